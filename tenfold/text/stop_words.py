"""Words of English that say little by themselves: articles, pronouns, prepositions, conjunctions, auxiliary verbs and their like."""

WORDS = """
a an the this that these those such same other others another each every either neither both all any some none no nor not
few fewer many more most much several enough own only very too so quite rather almost just even still yet already again once
ever never always often sometimes perhaps maybe also else indeed thus hence therefore however though although
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves one ones oneself who whom whose which what whoever whatever whichever
someone somebody something anyone anybody anything everyone everybody everything nobody nothing noone
where when why how here there now then wherever whenever somewhere anywhere everywhere nowhere
and or but if unless because since while whereas as than whether
of in on at by for with without within about above across after against along amid among amongst around before behind below
beneath beside besides between beyond down during except from inside into like near off onto out outside over past per
through throughout till to toward towards under underneath until up upon via
am is are was were be been being have has had having do does did doing done will would shall should can could may might must
ought cannot
don doesn didn isn aren wasn weren hasn haven hadn won wouldn shouldn couldn mustn needn ain ll ve re
"""
ENGLISH = frozenset(WORDS.split())
