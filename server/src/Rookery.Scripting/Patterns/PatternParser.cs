using System.Globalization;

namespace Rookery.Scripting.Patterns;

/// <summary>
/// Parses regular expressions of JavaScript (ECMA-262, RegExp). Refuses by name the constructs that a search in linear
/// time cannot run, and those whose matches might differ from JavaScript's.
/// </summary>
internal sealed class PatternParser(string source, PatternFlags flags)
{
    /// <summary>Maximum number of captures, including the whole match.</summary>
    public const int MaxCaptures = 32;

    // Maximum count in {n,m}.
    private const int MaxCount = 1000;

    // Maximum nesting of groups. Parsing recurses.
    private const int MaxLevels = 50;

    private readonly List<(string Name, int Number)> _names = [];
    private int _position;
    private int _captures = 1;
    private int _level;

    /// <summary>Number of captures that were parsed, including the whole match.</summary>
    public int Captures => _captures;

    /// <summary>The names of captures with their numbers.</summary>
    public IReadOnlyList<(string Name, int Number)> Names => _names;

    // Without this mode, a '{' without counts, a ']' and a '}' stand for themselves (ECMA-262, annex B).
    private bool IsUnicodeMode => (flags & PatternFlags.Unicode) != PatternFlags.None;

    private bool IsMultiline => (flags & PatternFlags.Multiline) != PatternFlags.None;

    /// <summary>Parses the whole text.</summary>
    /// <exception cref="PatternException">The text is malformed or not supported.</exception>
    public PatternNode Parse()
    {
        var node = ParseAlternatives();
        return _position == source.Length ? node : throw PatternException.Malformed("a ')' too many");
    }

    /// <summary>Parses flags.</summary>
    /// <exception cref="PatternException">A flag is unknown or occurs twice.</exception>
    public static PatternFlags ParseFlags(string text)
    {
        var flags = PatternFlags.None;
        foreach (char letter in text)
        {
            var flag = letter switch
            {
                'g' => PatternFlags.Global,
                'i' => PatternFlags.IgnoresCase,
                'm' => PatternFlags.Multiline,
                's' => PatternFlags.DotAll,
                'u' => PatternFlags.Unicode,
                'y' => PatternFlags.Sticky,
                'd' or 'v' => throw PatternException.NotSupported($"the flag '{letter}'"),
                _ => throw PatternException.Malformed($"the unknown flag '{letter}'"),
            };
            flags =
                (flags & flag) == PatternFlags.None
                    ? flags | flag
                    : throw PatternException.Malformed($"the flag '{letter}' twice");
        }

        return
            (flags & (PatternFlags.Unicode | PatternFlags.IgnoresCase))
            == (PatternFlags.Unicode | PatternFlags.IgnoresCase)
            ? throw PatternException.NotSupported("the flags 'i' and 'u' together")
            : flags;
    }

    private PatternNode ParseAlternatives()
    {
        if (++_level > MaxLevels)
        {
            throw PatternException.Malformed($"groups nested deeper than {MaxLevels} levels");
        }

        var alternatives = new List<PatternNode> { ParseSequence() };
        while (TryTake('|'))
        {
            alternatives.Add(ParseSequence());
        }

        _level--;
        return alternatives is [var only] ? only : new AlternativesNode(alternatives);
    }

    // Leaves out empty parts. A repetition of them would take work and give no instruction, which a limit could count.
    private PatternNode ParseSequence()
    {
        var parts = new List<PatternNode>();
        while (_position < source.Length && source[_position] is not ('|' or ')'))
        {
            int firstCapture = _captures;
            var part = ParseAtomOrAssertion();
            if (part is AssertionNode)
            {
                RefuseQuantifier();
            }
            else
            {
                part = ParseQuantifier(part, firstCapture);
            }

            if (!part.IsEmpty)
            {
                parts.Add(part);
            }
        }

        // A position alone stays in its group, because only a group may be repeated.
        return parts is [not AssertionNode and var only] ? only : new SequenceNode(parts);
    }

    private PatternNode ParseAtomOrAssertion()
    {
        char first = source[_position];
        switch (first)
        {
            case '^':
                _position++;
                return new AssertionNode(IsMultiline ? PatternOpcode.LineStart : PatternOpcode.TextStart);
            case '$':
                _position++;
                return new AssertionNode(IsMultiline ? PatternOpcode.LineEnd : PatternOpcode.TextEnd);
            case '(':
                return ParseGroup();
            case '[':
                return new CharacterNode(ParseCharacterClass());
            case '.':
                _position++;
                return new CharacterNode(CharacterSet.Any((flags & PatternFlags.DotAll) != PatternFlags.None));
            case '*' or '+' or '?':
                throw PatternException.Malformed($"'{first}' with nothing to repeat");
            case '{' when IsUnicodeMode || TryReadCounts(out _, out _):
                throw PatternException.Malformed("'{' with nothing to repeat");
            case ']' or '}' when IsUnicodeMode:
                throw PatternException.Malformed($"a '{first}' too many");
            case '\\':
                return ParseEscape();
            default:
                return new CharacterNode(CharacterSet.Of(TakeCharacter()));
        }
    }

    private PatternNode ParseGroup()
    {
        _position++;
        int number = 0; // of the capture; 0 if the group does not capture
        if (TryTake('?'))
        {
            if (!TryTake(':'))
            {
                number = ParseNamedGroup();
            }
        }
        else
        {
            number = AddCapture();
        }

        var inner = ParseAlternatives();
        if (!TryTake(')'))
        {
            throw PatternException.Malformed("a '(' that is not closed");
        }

        return number == 0 ? inner : new CaptureNode(number, inner);
    }

    /// <summary>
    /// Parses the name of a group after <c>(?</c> and adds its capture. Refuses the other kinds of groups.
    /// </summary>
    /// <returns>The number of the capture.</returns>
    private int ParseNamedGroup()
    {
        string rest = source[_position..];
        if (rest.StartsWith('=') || rest.StartsWith('!'))
        {
            throw PatternException.NotSupported("a lookahead, '(?=' or '(?!'");
        }

        if (rest.StartsWith("<=", StringComparison.Ordinal) || rest.StartsWith("<!", StringComparison.Ordinal))
        {
            throw PatternException.NotSupported("a lookbehind, '(?<=' or '(?<!'");
        }

        int end = rest.IndexOf('>', StringComparison.Ordinal);
        if (!rest.StartsWith('<') || end < 0)
        {
            throw rest.Length > 0 && rest[0] is 'i' or 'm' or 's' or '-'
                ? PatternException.NotSupported("flags in a group, '(?i:'")
                : PatternException.Malformed("a '(?' without a kind of group");
        }

        string name = rest[1..end];
        if (name.Length == 0 || char.IsAsciiDigit(name[0]) || !name.All(IsNameCharacter))
        {
            throw PatternException.NotSupported(
                $"the name '{name}' of a group, which has other than letters and digits"
            );
        }

        if (_names.Exists(known => string.Equals(known.Name, name, StringComparison.Ordinal)))
        {
            throw PatternException.Malformed($"two groups named '{name}'");
        }

        _position += end + 1;
        int number = AddCapture();
        _names.Add((name, number));
        return number;
    }

    private static bool IsNameCharacter(char value) => char.IsAsciiLetterOrDigit(value) || value is '_' or '$';

    private int AddCapture() =>
        _captures < MaxCaptures
            ? _captures++
            : throw PatternException.Malformed($"more than {MaxCaptures - 1} groups that capture");

    // Called after an assertion.
    private void RefuseQuantifier()
    {
        if (
            _position < source.Length
            && (source[_position] is '*' or '+' or '?' || (source[_position] == '{' && TryReadCounts(out _, out _)))
        )
        {
            throw PatternException.Malformed("a repetition of a position such as '^'");
        }
    }

    /// <summary>Parses the quantifier after a part, if there is one.</summary>
    /// <param name="part">The part.</param>
    /// <param name="firstCapture">The number of the first capture in the part.</param>
    /// <returns>The repetition of the part, or the part.</returns>
    private PatternNode ParseQuantifier(PatternNode part, int firstCapture)
    {
        int min,
            max; // -1 for any number
        switch (_position < source.Length ? source[_position] : '\0')
        {
            case '*':
                (min, max) = (0, -1);
                _position++;
                break;
            case '+':
                (min, max) = (1, -1);
                _position++;
                break;
            case '?':
                (min, max) = (0, 1);
                _position++;
                break;
            case '{' when TryReadCounts(out min, out max):
                _position = source.IndexOf('}', _position) + 1;
                break;
            case '{' when IsUnicodeMode:
                throw PatternException.Malformed("a '{' without a count");
            default:
                return part;
        }

        bool isLazy = TryTake('?');
        if (max >= 0 && max < min)
        {
            throw PatternException.Malformed($"the counts {{{min},{max}}} in the wrong order");
        }

        // JavaScript rejects an optional repetition that matches the empty text (ECMA-262, RepeatMatcher). A search in
        // linear time cannot reject it. It nevertheless finds the same match
        // - without a greatest count, if the part contains no lazy repetition, because the search enters a loop only
        //   once at each position;
        // - with a greatest count, if no repetition is optional, or if an empty repetition of the part changes nothing.
        bool matchesLikeJavaScript = max < 0 ? !part.HasLazy : max == min || !part.DependsOnEmptiness;
        return part.IsNullable && !matchesLikeJavaScript
                ? throw PatternException.NotSupported(
                    "a part such as '(a*)?' or '(a*?)*', whose repetitions are optional and may be empty"
                )
            : part.IsEmpty ? part
            : new RepetitionNode(part, min, max, isLazy, firstCapture, _captures);
    }

    /// <summary>Reads <c>{n}</c>, <c>{n,}</c> or <c>{n,m}</c> at the position, without moving.</summary>
    /// <param name="min">The least number of repetitions.</param>
    /// <param name="max">The greatest number; -1 if there is none.</param>
    /// <exception cref="PatternException">A count is above <see cref="MaxCount"/>.</exception>
    private bool TryReadCounts(out int min, out int max)
    {
        (min, max) = (0, 0);
        int at = _position + 1;
        if (!TryReadCount(ref at, out min))
        {
            return false;
        }

        max = min;
        if (at < source.Length && source[at] == ',')
        {
            at++;
            max = -1;
            if (at < source.Length && char.IsAsciiDigit(source[at]) && !TryReadCount(ref at, out max))
            {
                return false;
            }
        }

        return at < source.Length && source[at] == '}';
    }

    private bool TryReadCount(ref int at, out int count)
    {
        int start = at;
        while (at < source.Length && char.IsAsciiDigit(source[at]))
        {
            at++;
        }

        count = 0;
        if (at == start)
        {
            return false;
        }

        bool isSmall =
            int.TryParse(source.AsSpan(start, at - start), NumberStyles.None, CultureInfo.InvariantCulture, out count)
            && count <= MaxCount;
        return isSmall ? true : throw PatternException.Malformed($"a count above {MaxCount}");
    }

    private PatternNode ParseEscape()
    {
        char kind = _position + 1 < source.Length ? source[_position + 1] : '\0';
        switch (kind)
        {
            case 'b' or 'B':
                _position += 2;
                return new AssertionNode(kind == 'b' ? PatternOpcode.WordBoundary : PatternOpcode.NoWordBoundary);
            case 'd' or 'D' or 'w' or 'W' or 's' or 'S':
                _position += 2;
                return new CharacterNode(CharacterSet.OfEscape(kind));
            case >= '1' and <= '9':
                throw PatternException.NotSupported($"a reference back to a group, '\\{kind}'");
            case 'k':
                throw PatternException.NotSupported("a reference back to a group, '\\k'");
            default:
                return new CharacterNode(CharacterSet.Of(TakeEscapedCharacter()));
        }
    }

    /// <summary>Takes an escape that stands for one character, and returns its code point.</summary>
    private int TakeEscapedCharacter()
    {
        char kind = _position + 1 < source.Length ? source[_position + 1] : '\0';
        if (_position + 1 == source.Length)
        {
            throw PatternException.Malformed("a '\\' at the end");
        }

        _position += 2;
        switch (kind)
        {
            case 't':
                return '\t';
            case 'n':
                return '\n';
            case 'v':
                return '\v';
            case 'f':
                return '\f';
            case 'r':
                return '\r';
            case '0' when _position == source.Length || !char.IsAsciiDigit(source[_position]):
                return 0;
            case 'x':
                return TakeHexadecimal(digits: 2, kind);
            case 'u' when _position < source.Length && source[_position] == '{':
                return TakeCodePoint();
            case 'u':
                int unit = TakeHexadecimal(digits: 4, kind);
                return char.IsHighSurrogate((char)unit) ? TakeLowSurrogate(unit) : unit;
            case 'p' or 'P':
                throw PatternException.NotSupported($"a property of Unicode, '\\{kind}'");
            case var _ when char.IsAsciiLetterOrDigit(kind):
                throw PatternException.NotSupported($"the escape '\\{kind}'");
            default:
                _position--; // before the escaped character, which may be a surrogate pair
                return TakeCharacter();
        }
    }

    private int TakeCodePoint()
    {
        int end = source.IndexOf('}', _position); // -1: no digits remain to parse, so the escape is refused below
        if (!IsUnicodeMode)
        {
            throw PatternException.NotSupported("the escape '\\u{' without the flag 'u'");
        }

        bool isCharacter =
            int.TryParse(
                source.AsSpan(_position + 1, Math.Max(end - _position - 1, 0)),
                NumberStyles.AllowHexSpecifier,
                CultureInfo.InvariantCulture,
                out int character
            ) && character is >= 0 and <= CharacterSet.MaxCharacter;
        _position = end + 1;
        return isCharacter ? character : throw PatternException.Malformed("an escape '\\u{' that is no character");
    }

    private int TakeLowSurrogate(int high)
    {
        if (
            source.AsSpan(_position).StartsWith("\\u")
            && _position + 6 <= source.Length
            && int.TryParse(
                source.AsSpan(_position + 2, 4),
                NumberStyles.AllowHexSpecifier,
                CultureInfo.InvariantCulture,
                out int low
            )
            && char.IsLowSurrogate((char)low)
        )
        {
            _position += 6;
            return char.ConvertToUtf32((char)high, (char)low);
        }

        throw PatternException.NotSupported("half of a surrogate pair");
    }

    private int TakeHexadecimal(int digits, char kind)
    {
        if (_position + digits <= source.Length && source.Substring(_position, digits).All(char.IsAsciiHexDigit))
        {
            int value = int.Parse(
                source.AsSpan(_position, digits),
                NumberStyles.AllowHexSpecifier,
                CultureInfo.InvariantCulture
            );
            _position += digits;
            return char.IsLowSurrogate((char)value)
                ? throw PatternException.NotSupported("half of a surrogate pair")
                : value;
        }

        throw PatternException.NotSupported($"the escape '\\{kind}' without {digits} hexadecimal digits");
    }

    private CharacterSet ParseCharacterClass()
    {
        _position++;
        bool isInverse = TryTake('^');
        var ranges = new List<(int First, int Last)>();
        while (!TryTake(']'))
        {
            int first = TakeClassAtom(ranges);
            bool isRange = _position + 1 < source.Length && source[_position] == '-' && source[_position + 1] != ']';
            if (!isRange)
            {
                ranges.AddRange(first < 0 ? [] : [(first, first)]);
                continue;
            }

            _position++;
            int last = TakeClassAtom(ranges);
            if (first < 0 || last < 0)
            {
                throw PatternException.NotSupported("a range of a set such as '\\w-z'");
            }

            ranges.Add(first <= last ? (first, last) : throw PatternException.Malformed("a range in the wrong order"));
        }

        return isInverse && (flags & PatternFlags.IgnoresCase) != PatternFlags.None
            ? CharacterSet.InverseInAnyCase(ranges)
            : CharacterSet.Of(ranges, isInverse);
    }

    /// <summary>
    /// Takes an element of a character class. Returns the code point of a character. Adds the ranges of a set such as
    /// <c>\w</c>, and returns -1.
    /// </summary>
    private int TakeClassAtom(List<(int First, int Last)> ranges)
    {
        if (_position >= source.Length)
        {
            throw PatternException.Malformed("a '[' that is not closed");
        }

        if (source[_position] != '\\')
        {
            return TakeCharacter();
        }

        char kind = _position + 1 < source.Length ? source[_position + 1] : '\0';
        switch (kind)
        {
            case 'b':
                _position += 2;
                return '\b';
            case 'd' or 'D' or 'w' or 'W' or 's' or 'S':
                _position += 2;
                CharacterSet.OfEscape(kind).AddTo(ranges);
                return -1;
            case '-':
                _position += 2;
                return '-';
            default:
                return TakeEscapedCharacter();
        }
    }

    /// <summary>Takes a character and returns its code point.</summary>
    /// <exception cref="PatternException">The character is half of a surrogate pair.</exception>
    private int TakeCharacter()
    {
        char first = source[_position++];
        if (!char.IsSurrogate(first))
        {
            return first;
        }

        return _position < source.Length && char.IsSurrogatePair(first, source[_position])
            ? char.ConvertToUtf32(first, source[_position++])
            : throw PatternException.NotSupported("half of a surrogate pair");
    }

    private bool TryTake(char expected)
    {
        bool isNext = _position < source.Length && source[_position] == expected;
        _position += isNext ? 1 : 0;
        return isNext;
    }
}
