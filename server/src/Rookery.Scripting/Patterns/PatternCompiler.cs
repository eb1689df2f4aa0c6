namespace Rookery.Scripting.Patterns;

/// <summary>Compiles regular expressions to instructions for <see cref="PatternMatcher"/>.</summary>
internal sealed class PatternCompiler
{
    /// <summary>Maximum instructions of a regular expression.</summary>
    public const int MaxInstructions = 2000;

    // Bounds the work for parts that add no instruction of their own, such as those of '(?:(?:a{1}){1}){1000}'. It is
    // a number of parts, not a time, because all members must refuse the same patterns.
    private const int MaxParts = 4 * MaxInstructions;

    /// <summary>Maximum characters of a regular expression.</summary>
    public const int MaxCharacters = 4096;

    // Bounds the memory of a search, which keeps the captures of each instruction: 128 KiB twice.
    private const int MaxCaptureSlots = 16 * 1024;

    private readonly bool _ignoresCase;
    private readonly List<PatternInstruction> _instructions = [];
    private readonly List<CharacterSet> _sets = [];
    private int _parts;

    private PatternCompiler(PatternFlags flags) =>
        _ignoresCase = (flags & PatternFlags.IgnoresCase) != PatternFlags.None;

    /// <summary>Compiles a regular expression.</summary>
    /// <param name="source">The text between the slashes.</param>
    /// <param name="flagText">The flags.</param>
    /// <exception cref="PatternException">The text is malformed, too large or not supported.</exception>
    public static Pattern Compile(string source, string flagText)
    {
        if (source.Length > MaxCharacters)
        {
            throw PatternException.Malformed($"more than {MaxCharacters} characters");
        }

        var flags = PatternParser.ParseFlags(flagText);
        var parser = new PatternParser(source, flags);
        var root = parser.Parse();
        var compiler = new PatternCompiler(flags);
        compiler.Add(PatternOpcode.Save, 0);
        compiler.Emit(root);
        compiler.Add(PatternOpcode.Save, 1);
        compiler.Add(PatternOpcode.Match);
        var instructions = compiler._instructions.ToArray();
        if (instructions.Length * parser.Captures > MaxCaptureSlots)
        {
            throw PatternException.Malformed("too many groups that capture for its length");
        }

        return new Pattern
        {
            Instructions = instructions,
            Sets = [.. compiler._sets],
            Captures = parser.Captures,
            Names = parser.Names,
            Flags = flags,
            FirstByte = compiler._ignoresCase ? -1 : FirstByteOf(instructions),
        };
    }

    private static int FirstByteOf(PatternInstruction[] instructions)
    {
        int at = 0;
        while (instructions[at].Opcode is PatternOpcode.Save or PatternOpcode.Clear)
        {
            at++;
        }

        return instructions[at] is { Opcode: PatternOpcode.Character, First: < 0x80 and var first } ? first : -1;
    }

    private void Emit(PatternNode node)
    {
        if (++_parts > MaxParts)
        {
            throw PatternException.Malformed($"more than {MaxParts} parts when its counts are written out");
        }

        switch (node)
        {
            case CharacterNode character:
                EmitCharacter(character.Set);
                break;
            case AssertionNode assertion:
                Add(assertion.Kind);
                break;
            case SequenceNode sequence:
                foreach (var part in sequence.Parts)
                {
                    Emit(part);
                }

                break;
            case CaptureNode capture:
                Add(PatternOpcode.Save, 2 * capture.Number);
                Emit(capture.Inner);
                Add(PatternOpcode.Save, (2 * capture.Number) + 1);
                break;
            case AlternativesNode alternatives:
                EmitAlternatives(alternatives.Alternatives);
                break;
            case RepetitionNode repetition:
                EmitRepetition(repetition);
                break;
        }
    }

    private void EmitCharacter(CharacterSet set)
    {
        if (set.Single >= 0)
        {
            Add(PatternOpcode.Character, _ignoresCase ? PatternCase.Canonical(set.Single) : set.Single);
            return;
        }

        Add(PatternOpcode.Set, _sets.Count);
        _sets.Add(set);
    }

    private void EmitAlternatives(IReadOnlyList<PatternNode> alternatives)
    {
        var ends = new List<int>();
        for (int index = 0; index < alternatives.Count; index++)
        {
            bool isLast = index == alternatives.Count - 1;
            int split = isLast ? -1 : Add(PatternOpcode.Split);
            Emit(alternatives[index]);
            if (!isLast)
            {
                ends.Add(Add(PatternOpcode.Jump));
                _instructions[split] = new PatternInstruction(PatternOpcode.Split, split + 1, _instructions.Count);
            }
        }

        foreach (int end in ends)
        {
            _instructions[end] = new PatternInstruction(PatternOpcode.Jump, _instructions.Count);
        }
    }

    private void EmitRepetition(RepetitionNode repetition)
    {
        for (int count = 0; count < repetition.Min; count++)
        {
            EmitOnce(repetition);
        }

        if (repetition.Max < 0)
        {
            int loop = Add(PatternOpcode.Split);
            EmitOnce(repetition);
            Add(PatternOpcode.Jump, loop);
            SetSplit(loop, repetition.IsLazy);
            return;
        }

        var splits = new List<int>();
        for (int count = repetition.Min; count < repetition.Max; count++)
        {
            splits.Add(Add(PatternOpcode.Split));
            EmitOnce(repetition);
        }

        foreach (int split in splits)
        {
            SetSplit(split, repetition.IsLazy);
        }
    }

    /// <summary>Lets a split choose between the next instruction and the end of those that were added.</summary>
    private void SetSplit(int split, bool isLazy)
    {
        int end = _instructions.Count;
        _instructions[split] = isLazy
            ? new PatternInstruction(PatternOpcode.Split, end, split + 1)
            : new PatternInstruction(PatternOpcode.Split, split + 1, end);
    }

    // As in JavaScript, each repetition begins without the captures of the one before.
    private void EmitOnce(RepetitionNode repetition)
    {
        if (repetition.EndCapture > repetition.FirstCapture)
        {
            Add(PatternOpcode.Clear, 2 * repetition.FirstCapture, 2 * repetition.EndCapture);
        }

        Emit(repetition.Inner);
    }

    private int Add(PatternOpcode opcode, int first = 0, int second = 0)
    {
        if (_instructions.Count == MaxInstructions)
        {
            throw PatternException.Malformed($"more than {MaxInstructions} steps when its counts are written out");
        }

        _instructions.Add(new PatternInstruction(opcode, first, second));
        return _instructions.Count - 1;
    }
}
