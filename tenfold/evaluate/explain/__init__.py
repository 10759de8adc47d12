"""What a model's predictions rest on."""
