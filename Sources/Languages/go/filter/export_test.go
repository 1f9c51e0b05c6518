package filter

// Decode reads an answer.
var Decode = decode

// Encode returns a line without its end.
func (message *Message) Encode() (string, error) {
	line, err := message.encode()
	return string(line), err
}

// UnderWay returns how many messages have room in the window.
func (filter *Filter) UnderWay() int { return len(filter.slots) }

// Pid returns the child's process id; 0 while there is no child.
func (filter *Filter) Pid() int {
	filter.mutex.Lock()
	defer filter.mutex.Unlock()
	if filter.child == nil {
		return 0
	}
	return filter.child.Pid
}
