"""Steps and mistakes that several exercises of the lesson share."""
