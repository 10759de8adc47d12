// Weights of classes, and what happens to them when a row goes.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/rows_view.hpp"

namespace tenfold {

constexpr double NOT_A_NUMBER = std::numeric_limits<double>::quiet_NaN();

// What is left when a row of weight w goes from a class of weight n; NaN where it was alone there.
struct Removal {
    double w, left, total;  // left: n - w, total: of all classes
    double beta, gamma;     // w / (n - w), w n / (n - w)
    double fall;            // what the sum of squares of a column loses, over the row's squared distance from its mean
    double log_grown;       // log n / (n - w)
};

// Weights and log priors of the classes. Priors that are not given are shares of the weight that is left.
class ClassWeights {
public:
    ClassWeights(Weights weight, const double* log_prior, bool given)
        : weight_(weight), log_prior_(log_prior), given_(given), last_(weight.size(), Removal{}),
          priors_(weight.size() * weight.size()) {
        for (double n : weight) total_ += n, known_ += n > 0;
    }

    TENFOLD_INLINE size_t count() const { return weight_.size(); }
    TENFOLD_INLINE double of(size_t k) const { return weight_[k]; }
    TENFOLD_INLINE double total() const { return total_; }
    TENFOLD_INLINE double known() const { return known_; }  // classes that have rows

    // Holds until a row of another weight is asked for. Most rows weigh the same, so nothing is divided for most of them.
    TENFOLD_INLINE const Removal& without(size_t k, double w) {
        Removal& gone = last_[k];
        if (w != gone.w) {
            const double n = weight_[k], left = n - w > 1e-9 * n ? n - w : NOT_A_NUMBER, total = total_ - w;
            const double log_left = std::log(left), log_total = std::log(total);
            gone = {w, left, total, w / left, w * n / left, w * total_ / total, std::log(n) - log_left};
            for (size_t c = 0; c < count(); ++c)
                priors_[k * count() + c] = given_ ? log_prior_[c] : (c == k ? log_left : log_prior_[c]) - log_total;
        }
        return gone;
    }

    // Log priors of all classes, after the row last asked for has gone from class k.
    TENFOLD_INLINE const double* priors(size_t k) const { return priors_.data() + k * count(); }

private:
    Weights weight_;
    const double* log_prior_;  // of given priors; else logarithms of the weights
    bool given_;
    std::vector<Removal> last_;
    std::vector<double> priors_;
    double total_ = 0, known_ = 0;
};

// A fitted GaussianNB: `inverse` are reciprocal variances, `level` is -1/2 sum_j log(2 pi variance), epsilon the smoothing
// in them. `whole` are the sums of squares of the columns about their means `overall` over all classes, and
// `order` numbers the columns, the largest of these first. A change of epsilon below `negligible` is ignored.
struct NaiveBayes {
    Rows<const double> mean;
    const double *inverse, *level, *whole, *overall;
    const std::int64_t* order;
    double smoothing, epsilon, negligible;

    // The smoothing without a row: the largest variance of a column among the rows left. Columns that cannot have it are
    // not looked at.
    template <class T>
    TENFOLD_INLINE double without(const T* x, const Removal& gone) const {
        double largest = -1.0;
        for (size_t i = 0; i < mean.p && whole[order[i]] > largest; ++i) {
            const auto j = static_cast<size_t>(order[i]);
            const double d = static_cast<double>(x[j]) - overall[j];
            largest = std::max(largest, whole[j] - gone.fall * d * d);
        }
        return largest < 1e-4 * whole[order[0]] ? NOT_A_NUMBER : smoothing * largest / gone.total;
    }
};

// A fitted LinearDiscriminantAnalysis: with A A^T the inverse of the covariance within classes and a_c = (m_c - center) A,
// `coef` are the rows a_c A^T and `inner` the products a_c a_e^T. `least`: what must be left of the determinant.
struct LinearClasses {
    const double* center;
    Rows<const double> coef;
    const double* inner;
    double least;
};

// The kernels for one type of X, as compiled for one instruction set (see leave_out.hpp).
template <class T>
struct LeaveOutOf {
    void (*whitened_squares)(Rows<const T>, Rows<const double>, const double*, double*);
    void (*residuals_left)(Rows<const T>, Rows<const double>, Weights, const double*, Rows<const double>, const double*,
                           double, double, double*);
    void (*naive_bayes_left)(Rows<const T>, Labels, Weights, const NaiveBayes&, ClassWeights&, double*);
    void (*centroids_left)(Rows<const T>, Labels, Weights, Rows<const double>, const double*, bool, ClassWeights&, double*);
    void (*linear_discriminant_left)(Rows<const T>, Labels, Weights, const double*, const LinearClasses&, ClassWeights&,
                                     double*);
};

struct LeaveOut {
    LeaveOutOf<float> of_float;
    LeaveOutOf<double> of_double;
    void (*quadratic_discriminant_left)(Rows<const double>, size_t, Labels, Weights, const double*, const double*,
                                        ClassWeights&, double*);

    template <class T>
    const LeaveOutOf<T>& of() const {
        if constexpr (sizeof(T) == 4) return of_float;
        else return of_double;
    }
};

extern const LeaveOut leave_out_baseline, leave_out_avx2, leave_out_avx512;

}  // namespace tenfold
