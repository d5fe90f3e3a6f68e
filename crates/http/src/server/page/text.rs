//! Reads the descriptions of services, operations and types that the generator wrote (`castile-plan`, module `page`).

/// The description of one service.
#[derive(Debug, Default)]
pub(super) struct Contents<'p> {
    pub(super) operations: Vec<Operation<'p>>,
    /// The types of all services of the contract, by number.
    pub(super) types: Vec<Type<'p>>,
}

#[derive(Debug, Default)]
pub(super) struct Operation<'p> {
    pub(super) name: &'p str,
    pub(super) documentation: Block<'p>,
    pub(super) input: Block<'p>,
    pub(super) output: Block<'p>,
    pub(super) headers: Block<'p>,
    pub(super) faults: Block<'p>,
    pub(super) blocks: Block<'p>,
    pub(super) request: Block<'p>,
    pub(super) answer: Block<'p>,
}

#[derive(Debug, Default)]
pub(super) struct Type<'p> {
    pub(super) name: &'p str,
    pub(super) namespace: &'p str,
    pub(super) documentation: Block<'p>,
    pub(super) rows: Block<'p>,
}

/// Lines that each begin with a tab.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Block<'p>(&'p str);

/// A line that describes a part of a type or message.
#[derive(Debug, Default)]
pub(super) struct Row<'p> {
    pub(super) depth: usize,
    /// A letter for the kind of the line.
    pub(super) kind: &'p str,
    pub(super) name: &'p str,
    pub(super) occurs: &'p str,
    pub(super) of: &'p str,
    /// The number of the type, if the type has a description.
    pub(super) number: Option<usize>,
    pub(super) notes: &'p str,
    pub(super) documentation: &'p str,
}

impl<'p> Contents<'p> {
    pub(super) fn read(text: &'p str, service: usize) -> Self {
        let mut contents = Contents::default();
        let mut services = 0;
        let mut rest = text;
        while let Some((line, behind)) = rest.split_once('\n') {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            let block = Block::at_the_beginning_of(behind);
            rest = &behind[block.0.len()..];
            match key {
                "service" => services += 1,
                "type" => {
                    let (name, namespace) = value.split_once('\t').unwrap_or((value, ""));
                    contents.types.push(Type { name, namespace, ..Type::default() });
                }
                _ if !contents.types.is_empty() => contents.of_type(key, block),
                "operation" if services == service + 1 => {
                    contents.operations.push(Operation { name: value, ..Operation::default() });
                }
                _ if services == service + 1 => contents.of_operation(key, block),
                _ => {}
            }
        }
        contents
    }

    fn of_type(&mut self, key: &str, block: Block<'p>) {
        let Some(last) = self.types.last_mut() else { return };
        match key {
            "documentation" => last.documentation = block,
            "rows" => last.rows = block,
            _ => {}
        }
    }

    fn of_operation(&mut self, key: &str, block: Block<'p>) {
        let Some(last) = self.operations.last_mut() else { return };
        match key {
            "documentation" => last.documentation = block,
            "input" => last.input = block,
            "output" => last.output = block,
            "headers" => last.headers = block,
            "faults" => last.faults = block,
            "blocks" => last.blocks = block,
            "request" => last.request = block,
            "answer" => last.answer = block,
            _ => {}
        }
    }
}

impl Operation<'_> {
    /// Returns the length of the description.
    pub(super) fn len(&self) -> usize {
        let Operation { name, documentation, input, output, headers, faults, blocks, request, answer } = self;
        let texts = [documentation, input, output, headers, faults, blocks, request, answer];
        name.len() + texts.iter().map(|block| block.len()).sum::<usize>()
    }

    /// Returns the blocks with rows, which refer to types.
    pub(super) fn rows(&self) -> [Block<'_>; 4] {
        [self.input, self.headers, self.output, self.faults]
    }
}

impl Type<'_> {
    pub(super) fn len(&self) -> usize {
        self.name.len() + self.namespace.len() + self.documentation.len() + self.rows.len()
    }
}

impl<'p> Block<'p> {
    fn at_the_beginning_of(text: &'p str) -> Self {
        let mut end = 0;
        while text[end..].starts_with('\t') {
            end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
        }
        Block(&text[..end])
    }

    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn lines(self) -> impl Iterator<Item = &'p str> {
        self.0.split_terminator('\n').map(|line| line.strip_prefix('\t').unwrap_or(line))
    }

    /// Returns the original text.
    pub(super) fn text(self) -> String {
        let lines: Vec<&str> = self.lines().collect();
        lines.join("\n")
    }

    pub(super) fn rows(self) -> impl Iterator<Item = Row<'p>> {
        self.lines().map(|line| {
            let mut columns = line.split('\t');
            let mut next = || columns.next().unwrap_or_default();
            let place = next();
            let (depth, kind) = place.split_at(place.find(|c: char| !c.is_ascii_digit()).unwrap_or(place.len()));
            Row {
                depth: depth.parse().unwrap_or_default(),
                kind,
                name: next(),
                occurs: next(),
                of: next(),
                number: next().parse().ok(),
                notes: next(),
                documentation: next(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_by_its_keys() {
        let text = "service A\noperation one\nrequest\n\t<a>\n\tservice X\n\t\n\t</a>\nservice B\noperation two\ndocumentation\n\tB's.\n\
                    type T\turn:t\nrows\n\t0e\tname\t0..1\tU\t7\n\t12a\tb\ntype\n";
        let first = Contents::read(text, 0);
        assert_eq!(first.operations.len(), 1);
        assert_eq!(first.operations[0].request.text(), "<a>\nservice X\n\n</a>");
        let second = Contents::read(text, 1);
        assert_eq!((second.operations[0].name, &*second.operations[0].documentation.text()), ("two", "B's."));
        let [of, unnamed] = &second.types[..] else { panic!("{second:?}") };
        assert_eq!((of.name, of.namespace, unnamed.name), ("T", "urn:t", ""));
        let rows: Vec<Row> = of.rows.rows().collect();
        assert_eq!((rows[0].name, rows[0].occurs, rows[0].of, rows[0].number), ("name", "0..1", "U", Some(7)));
        assert_eq!((rows[1].depth, rows[1].kind, rows[1].number), (12, "a", None));
        assert!(Contents::read(text, 2).operations.is_empty());
        assert!(Contents::read("", 0).operations.is_empty());
    }
}
