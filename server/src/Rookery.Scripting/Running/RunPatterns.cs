using System.Buffers.Binary;
using System.Text;
using Rookery.Scripting.Patterns;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Running;

/// <summary>
/// The regular expressions of a run, with their <c>lastIndex</c>, and the indexes of what they found. Literals are
/// compiled once for a program. Their steps and memory count in every run, so that all members of a cluster end a run
/// at the same step.
/// </summary>
internal sealed class RunPatterns(ScriptHeap heap)
{
    // A pattern in the heap: its number, then its text with slashes and flags.
    private const int HeadBytes = sizeof(int);
    private const long BytesPerEntry = 64;

    // A script can make many patterns of parts of its constants.
    private const int MaxKeptLiterals = 64;

    private readonly List<Entry> _entries = [];
    private readonly List<MatchEntry> _matches = [];

    // By the whole ranges: an empty constant begins where the next one does, and a part of a constant where it does.
    private readonly Dictionary<(int Source, int SourceEnd, int Flags, int FlagsEnd), Pattern> _literals = [];
    private int _constantBytes;

    /// <summary>Searches texts for the patterns.</summary>
    public PatternMatcher Matcher { get; } = new();

    /// <summary>Removes the patterns of the last run.</summary>
    public void Clear()
    {
        _entries.Clear();
        _matches.Clear();
    }

    /// <summary>Begins a program, whose constants are the first bytes of the heap.</summary>
    public void BeginProgram(int constantBytes)
    {
        _literals.Clear();
        _constantBytes = constantBytes;
    }

    /// <summary>Releases memory after a run.</summary>
    public void Trim()
    {
        Clear();
        Matcher.Trim();
    }

    /// <summary>Creates a regular expression.</summary>
    /// <param name="source">Its text, or another regular expression.</param>
    /// <param name="flags">Its flags; undefined for those of the other one, or for none.</param>
    /// <exception cref="ScriptFailure">The text is malformed or not supported.</exception>
    public ScriptValue Create(ScriptValue source, ScriptValue flags)
    {
        bool hasFlags = flags.Kind != ValueKind.Undefined;
        if (source.Kind == ValueKind.Pattern)
        {
            flags = hasFlags ? heap.ToText(flags) : PartOf(source, ofFlags: true);
            source = PartOf(source, ofFlags: false);
        }
        else
        {
            source = source.Kind == ValueKind.Undefined ? heap.NewText(default) : heap.ToText(source);
            flags = hasFlags ? heap.ToText(flags) : heap.NewText(default);
        }

        if (source.Length == 0)
        {
            source = heap.NewText("(?:)"u8);
        }

        var pattern = Compile(source, flags);
        heap.Budget.Require(BytesPerEntry + pattern.Bytes);
        heap.Budget.ContainerBytes += BytesPerEntry + pattern.Bytes;
        int start = heap.Length;
        BinaryPrimitives.WriteInt32LittleEndian(heap.Reserve(HeadBytes), _entries.Count);
        heap.Advance(HeadBytes);
        heap.Add((byte)'/');
        heap.AddCopy(source.Start, source.Length);
        heap.Add((byte)'/');
        heap.AddCopy(flags.Start, flags.Length);
        _entries.Add(new Entry(pattern) { FlagBytes = flags.Length });
        return ScriptValue.InHeap(ValueKind.Pattern, start, heap.Length - start);
    }

    /// <summary>Returns the compiled form of a pattern.</summary>
    public Pattern CompiledOf(ScriptValue pattern) => EntryOf(pattern).Pattern;

    /// <summary>Returns <c>lastIndex</c> of a pattern.</summary>
    public double LastIndexOf(ScriptValue pattern) => EntryOf(pattern).LastIndex;

    /// <summary>Sets <c>lastIndex</c> of a pattern.</summary>
    public void SetLastIndex(ScriptValue pattern, double index) => EntryOf(pattern).LastIndex = index;

    /// <summary>Returns a property of a pattern; undefined if it has none of this name.</summary>
    public ScriptValue GetMember(ScriptValue pattern, ReadOnlySpan<byte> name)
    {
        var flag =
            name.SequenceEqual("global"u8) ? PatternFlags.Global
            : name.SequenceEqual("ignoreCase"u8) ? PatternFlags.IgnoresCase
            : name.SequenceEqual("multiline"u8) ? PatternFlags.Multiline
            : name.SequenceEqual("dotAll"u8) ? PatternFlags.DotAll
            : name.SequenceEqual("unicode"u8) ? PatternFlags.Unicode
            : name.SequenceEqual("sticky"u8) ? PatternFlags.Sticky
            : PatternFlags.None;
        return flag != PatternFlags.None ? ScriptValue.Of((CompiledOf(pattern).Flags & flag) != PatternFlags.None)
            : name.SequenceEqual("lastIndex"u8) ? ScriptValue.Of(LastIndexOf(pattern))
            : name.SequenceEqual("source"u8) ? PartOf(pattern, ofFlags: false)
            : name.SequenceEqual("flags"u8) ? PartOf(pattern, ofFlags: true)
            : ScriptValue.Undefined;
    }

    /// <summary>
    /// Creates the array of a match: its captures, with <c>index</c>, <c>input</c> and <c>groups</c>.
    /// </summary>
    /// <param name="pattern">The regular expression.</param>
    /// <param name="text">The text.</param>
    /// <param name="slots">The slots of the match, as <see cref="PatternMatcher.Found"/>.</param>
    public ScriptValue NewMatch(Pattern pattern, ScriptValue text, ReadOnlySpan<int> slots)
    {
        heap.Budget.Require(BytesPerEntry);
        heap.Budget.ContainerBytes += BytesPerEntry;
        var match = heap.Containers.NewMatch(_matches.Count);
        for (int number = 0; number < pattern.Captures; number++)
        {
            heap.Budget.Spend(1);
            heap.Containers.Append(match, Capture(text, slots, number));
        }

        heap.Budget.SpendOnBytes(slots[0]);
        int index = Utf16Text.Length(heap.Span(text)[..slots[0]]);
        _matches.Add(new MatchEntry(index, text, NewGroups(pattern, text, slots)));
        return match;
    }

    /// <summary>Returns the object of the named captures; undefined if the pattern has none.</summary>
    public ScriptValue NewGroups(Pattern pattern, ScriptValue text, ReadOnlySpan<int> slots)
    {
        if (pattern.Names.Count == 0)
        {
            return ScriptValue.Undefined;
        }

        var groups = heap.Containers.NewObject();
        foreach (var (name, number) in pattern.Names)
        {
            heap.Containers.Set(groups, heap.NewText(Encoding.ASCII.GetBytes(name)), Capture(text, slots, number));
        }

        return groups;
    }

    /// <summary>Returns the text of a capture; undefined if it is not part of the match.</summary>
    public static ScriptValue Capture(ScriptValue text, ReadOnlySpan<int> slots, int number) =>
        slots[2 * number] < 0 || slots[(2 * number) + 1] < 0
            ? ScriptValue.Undefined
            : ScriptValue.InHeap(
                ValueKind.Text,
                text.Start + slots[2 * number],
                slots[(2 * number) + 1] - slots[2 * number]
            );

    /// <summary>Returns a property of the array of a match; undefined if it has none of this name.</summary>
    public ScriptValue GetMatchMember(int match, ReadOnlySpan<byte> name) =>
        name.SequenceEqual("index"u8) ? ScriptValue.Of(_matches[match].Index)
        : name.SequenceEqual("input"u8) ? _matches[match].Input
        : name.SequenceEqual("groups"u8) ? _matches[match].Groups
        : ScriptValue.Undefined;

    private Pattern Compile(ScriptValue source, ScriptValue flags)
    {
        const int StepsPerPattern = 100;
        const int StepsPerCharacter = 4;
        const int StepsPerInstruction = 2;
        heap.Budget.Spend(
            StepsPerPattern + (StepsPerCharacter * Math.Min(source.Length, 4 * PatternCompiler.MaxCharacters))
        );
        var ranges = (source.Start, source.Start + source.Length, flags.Start, flags.Start + flags.Length);
        bool isLiteral = ranges.Item2 <= _constantBytes && ranges.Item4 <= _constantBytes;
        if (!isLiteral || !_literals.TryGetValue(ranges, out var pattern))
        {
            try
            {
                pattern = PatternCompiler.Compile(
                    Encoding.UTF8.GetString(heap.Span(source)),
                    Encoding.UTF8.GetString(heap.Span(flags))
                );
            }
            catch (PatternException fault)
            {
                throw new ScriptFailure(
                    $"the regular expression /{heap.Shown(source)}/ has {fault.Message}"
                        + (fault.IsSupported ? "" : ", which this server does not run")
                );
            }

            if (isLiteral && _literals.Count < MaxKeptLiterals)
            {
                _literals.Add(ranges, pattern);
            }
        }

        heap.Budget.Spend(StepsPerInstruction * pattern.Instructions.Length);
        return pattern;
    }

    private ScriptValue PartOf(ScriptValue pattern, bool ofFlags)
    {
        int flagBytes = EntryOf(pattern).FlagBytes;
        int start = pattern.Start + HeadBytes + 1;
        int end = pattern.Start + pattern.Length - flagBytes;
        return ofFlags
            ? ScriptValue.InHeap(ValueKind.Text, end, flagBytes)
            : ScriptValue.InHeap(ValueKind.Text, start, end - 1 - start);
    }

    private Entry EntryOf(ScriptValue pattern) => _entries[BinaryPrimitives.ReadInt32LittleEndian(heap.Span(pattern))];

    private sealed class Entry(Pattern pattern)
    {
        public Pattern Pattern => pattern;

        public int FlagBytes { get; init; }

        public double LastIndex { get; set; }
    }

    private readonly record struct MatchEntry(int Index, ScriptValue Input, ScriptValue Groups);
}
