-- `no_launch()`: the name of the parent of device activities without a launch.
CREATE MACRO no_launch() AS '(no launch)';
