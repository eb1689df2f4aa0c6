using Rookery.Scripting.Running;
using Rookery.Scripting.Values;

namespace Rookery.Scripting.Patterns;

/// <summary>
/// Searches texts for regular expressions in linear time: follows all possible matches at once, in the order in which
/// JavaScript would try them (Pike's algorithm: Cox, Regular Expression Matching: the Virtual Machine Approach). Counts
/// its work as steps of the script.
/// </summary>
internal sealed class PatternMatcher
{
    private const int VisitsPerStep = 4;

    private Threads _current = new();
    private Threads _next = new();
    private int[] _found = [];
    private int[] _captures = [];
    private readonly Stack<(int Instruction, int Slot, int Position)> _pending = new();
    private int _visits;

    /// <summary>
    /// The slots of the last match: the start and end of each capture, as offsets; -1 if it is missing.
    /// </summary>
    public ReadOnlySpan<int> Found => _found;

    /// <summary>Searches a text from an offset on.</summary>
    /// <param name="pattern">The regular expression.</param>
    /// <param name="text">The text.</param>
    /// <param name="from">The offset of the first character at which a match may begin.</param>
    /// <param name="isSticky">Whether a match must begin there.</param>
    /// <param name="budget">Counts the steps.</param>
    public bool TryMatch(Pattern pattern, ReadOnlySpan<byte> text, int from, bool isSticky, ScriptBudget budget)
    {
        int slots = 2 * pattern.Captures;
        _current.Begin(pattern.Instructions.Length, slots);
        _next.Begin(pattern.Instructions.Length, slots);
        if (_found.Length != slots)
        {
            (_found, _captures) = (new int[slots], new int[slots]);
        }

        _visits = 0;
        bool isFound = false;
        for (int at = from; ; )
        {
            if (!isFound && (!isSticky || at == from))
            {
                if (_current.Count == 0 && pattern.FirstByte >= 0 && !isSticky)
                {
                    int skipped = text[at..].IndexOf((byte)pattern.FirstByte);
                    budget.SpendOnBytes(skipped < 0 ? text.Length - at : skipped);
                    if (skipped < 0)
                    {
                        return false;
                    }

                    at += skipped;
                }

                _captures.AsSpan().Fill(-1);
                Add(pattern, _current, text, at, instruction: 0);
            }

            if (_current.Count == 0)
            {
                // Nothing is left to follow, and at the end of the text nothing can begin.
                if (isFound || isSticky || at == text.Length)
                {
                    break;
                }
            }

            int end = at;
            int character = at < text.Length ? ReadCharacter(text, ref end) : -1;
            isFound |= Step(pattern, text, end, character);
            budget.Spend(1 + (_visits / VisitsPerStep));
            _visits = 0;
            (_current, _next) = (_next, _current);
            _next.Clear();
            if (at == text.Length)
            {
                break;
            }

            at = end;
        }

        return isFound;
    }

    /// <summary>Releases the memory of earlier searches.</summary>
    public void Trim() => (_current, _next) = (new Threads(), new Threads());

    private static int ReadCharacter(ReadOnlySpan<byte> text, ref int at)
    {
        var rest = text[at..];
        int before = rest.Length;
        int character = Utf16Text.ReadCharacter(ref rest);
        at += before - rest.Length;
        return character;
    }

    /// <summary>Moves all threads over a character. Returns whether one of them matches.</summary>
    private bool Step(Pattern pattern, ReadOnlySpan<byte> text, int end, int character)
    {
        bool ignoresCase = (pattern.Flags & PatternFlags.IgnoresCase) != PatternFlags.None;
        int canonical = ignoresCase && character >= 0 ? PatternCase.Canonical(character) : character;
        var cases = ignoresCase && character >= 0 ? PatternCase.CasesOf(canonical) : default;
        for (int index = 0; index < _current.Count; index++)
        {
            int number = _current.InstructionAt(index);
            var instruction = pattern.Instructions[number];
            switch (instruction.Opcode)
            {
                case PatternOpcode.Match:
                    // The threads after this one are those that JavaScript would try later.
                    _current.CapturesAt(index).CopyTo(_found);
                    return true;
                case PatternOpcode.Character when instruction.First == canonical:
                case PatternOpcode.Set
                    when character >= 0
                        && (
                            ignoresCase
                                ? pattern.Sets[instruction.First].ContainsInAnyCase(character, cases)
                                : pattern.Sets[instruction.First].Contains(character)
                        ):
                    _current.CapturesAt(index).CopyTo(_captures);
                    Add(pattern, _next, text, end, number + 1);
                    break;
            }

            // A set is asked for each case.
            _visits += instruction.Opcode == PatternOpcode.Set ? 1 + cases.Length : 1;
        }

        return false;
    }

    /// <summary>
    /// Adds the threads that an instruction leads to without a character, with the current captures. An instruction
    /// that has a thread already keeps it: JavaScript would try that one first.
    /// </summary>
    private void Add(Pattern pattern, Threads threads, ReadOnlySpan<byte> text, int at, int instruction)
    {
        _pending.Clear();
        _pending.Push((instruction, -1, 0));
        while (_pending.TryPop(out var next))
        {
            if (next.Slot >= 0)
            {
                _captures[next.Slot] = next.Position;
                continue;
            }

            int number = next.Instruction;
            while (threads.TryVisit(number))
            {
                _visits++;
                var (opcode, first, second) = pattern.Instructions[number];
                switch (opcode)
                {
                    case PatternOpcode.Jump:
                        number = first;
                        continue;
                    case PatternOpcode.Split:
                        _pending.Push((second, -1, 0));
                        number = first;
                        continue;
                    case PatternOpcode.Save:
                        _pending.Push((0, first, _captures[first]));
                        _captures[first] = at;
                        number++;
                        continue;
                    case PatternOpcode.Clear:
                        for (int slot = first; slot < second; slot++)
                        {
                            _visits++;
                            _pending.Push((0, slot, _captures[slot]));
                            _captures[slot] = -1;
                        }

                        number++;
                        continue;
                    case PatternOpcode.Match or PatternOpcode.Character or PatternOpcode.Set:
                        _visits += _captures.Length / VisitsPerStep;
                        threads.Append(number, _captures);
                        break;
                    default:
                        if (Holds(opcode, text, at))
                        {
                            number++;
                            continue;
                        }

                        break;
                }

                break;
            }
        }
    }

    private static bool Holds(PatternOpcode assertion, ReadOnlySpan<byte> text, int at)
    {
        switch (assertion)
        {
            case PatternOpcode.TextStart:
                return at == 0;
            case PatternOpcode.TextEnd:
                return at == text.Length;
            case PatternOpcode.LineStart:
                return at == 0 || text[at - 1] is (byte)'\n' or (byte)'\r' || EndsWithSeparator(text[..at]);
            case PatternOpcode.LineEnd:
                return at == text.Length
                    || text[at] is (byte)'\n' or (byte)'\r'
                    || (at + 3 <= text.Length && EndsWithSeparator(text[..(at + 3)]));
            default:
                bool isBoundary =
                    (at > 0 && CharacterSet.IsWordCharacter(text[at - 1]))
                    != (at < text.Length && CharacterSet.IsWordCharacter(text[at]));
                return isBoundary == (assertion == PatternOpcode.WordBoundary);
        }
    }

    // Whether a text ends with U+2028 or U+2029.
    private static bool EndsWithSeparator(ReadOnlySpan<byte> text) => text is [.., 0xE2, 0x80, 0xA8 or 0xA9];

    /// <summary>Instructions that are followed at one position, in their order, each with its captures.</summary>
    private sealed class Threads
    {
        private int[] _instructions = [];
        private int[] _captures = [];

        // The position in _visited of each visited instruction.
        private int[] _places = [];
        private int[] _visited = [];
        private int _visitedCount;
        private int _slots;

        public int Count { get; private set; }

        public void Begin(int instructions, int slots)
        {
            if (_places.Length < instructions)
            {
                _instructions = new int[instructions];
                _places = new int[instructions];
                _visited = new int[instructions];
            }

            if (_captures.Length < instructions * slots)
            {
                _captures = new int[instructions * slots];
            }

            _slots = slots;
            Clear();
        }

        public void Clear() => Count = _visitedCount = 0;

        public int InstructionAt(int index) => _instructions[index];

        public ReadOnlySpan<int> CapturesAt(int index) => _captures.AsSpan(index * _slots, _slots);

        public bool TryVisit(int instruction)
        {
            int place = _places[instruction];
            if (place < _visitedCount && _visited[place] == instruction)
            {
                return false;
            }

            _places[instruction] = _visitedCount;
            _visited[_visitedCount++] = instruction;
            return true;
        }

        public void Append(int instruction, ReadOnlySpan<int> captures)
        {
            _instructions[Count] = instruction;
            captures.CopyTo(_captures.AsSpan(Count * _slots));
            Count++;
        }
    }
}
