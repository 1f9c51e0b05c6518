package filter

// UnderWay returns how many messages have room in the window.
func (filter *Filter) UnderWay() int { return len(filter.slots) }
