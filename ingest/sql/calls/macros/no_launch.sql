-- `no_launch()`: the name of the call around device activities without a launch.
CREATE MACRO no_launch() AS '(no launch)';
