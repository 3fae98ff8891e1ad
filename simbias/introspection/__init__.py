"""What any object is to the engine: name, arrays, what is trained, kinks."""
