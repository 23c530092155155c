"""Steps and mistakes shared by several exercises of the lesson."""
