# The two commands, for those who type make. Arguments: make test ARGS="-k masks"
.PHONY: lab test
lab test:
	@python3 course.py $@ $(ARGS)
