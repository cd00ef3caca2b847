def page(): pass
