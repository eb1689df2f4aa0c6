using System.Globalization;

namespace Rookery.Scripting.Patterns;

/// <summary>
/// Parses regular expressions of JavaScript (ECMA-262, RegExp). Rejects by name what a search in linear time cannot do,
/// and forms of which Rookery does not know that they mean the same.
/// </summary>
internal sealed class PatternParser(string source, PatternFlags flags)
{
    /// <summary>Maximum number of captures, including the whole match.</summary>
    public const int MaxCaptures = 32;

    // Maximum count in {n,m}.
    private const int MaxCount = 1000;
    private const int MaxLevels = 50;

    private readonly List<(string Name, int Number)> _names = [];
    private int _position;
    private int _captures = 1;
    private int _level;

    /// <summary>Number of captures that were parsed, including the whole match.</summary>
    public int Captures => _captures;

    /// <summary>The names of captures with their numbers.</summary>
    public IReadOnlyList<(string Name, int Number)> Names => _names;

    private bool IsStrict => (flags & PatternFlags.Unicode) != PatternFlags.None;

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

    private SequenceNode ParseSequence()
    {
        var parts = new List<PatternNode>();
        while (_position < source.Length && source[_position] is not ('|' or ')'))
        {
            int firstCapture = _captures;
            var part = ParseTerm();
            parts.Add(part is AssertionNode ? RefuseRepetition(part) : ParseRepetition(part, firstCapture));
        }

        return new SequenceNode(parts);
    }

    private PatternNode ParseTerm()
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
                return new CharacterNode(ParseClass());
            case '.':
                _position++;
                return new CharacterNode(CharacterSet.Any((flags & PatternFlags.DotAll) != PatternFlags.None));
            case '*' or '+' or '?':
                throw PatternException.Malformed($"'{first}' with nothing to repeat");
            case '{' when IsStrict || TryReadCounts(out _, out _):
                throw PatternException.Malformed("'{' with nothing to repeat");
            case ']' or '}' when IsStrict:
                throw PatternException.Malformed($"a '{first}' too many");
            case '\\':
                return ParseEscape();
            default:
                return new CharacterNode(CharacterSet.Of(TakeCharacter()));
        }
    }

    private bool IsMultiline => (flags & PatternFlags.Multiline) != PatternFlags.None;

    private PatternNode ParseGroup()
    {
        _position++;
        int number = 0;
        if (TryTake('?'))
        {
            if (!TryTake(':'))
            {
                number = ParseName();
            }
        }
        else
        {
            number = NewCapture();
        }

        var inner = ParseAlternatives();
        if (!TryTake(')'))
        {
            throw PatternException.Malformed("a '(' that is not closed");
        }

        return number == 0 ? inner : new CaptureNode(number, inner);
    }

    /// <summary>Parses what follows <c>(?</c>, and returns the number of a named capture.</summary>
    private int ParseName()
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
        int number = NewCapture();
        _names.Add((name, number));
        return number;
    }

    private static bool IsNameCharacter(char value) => char.IsAsciiLetterOrDigit(value) || value is '_' or '$';

    private int NewCapture() =>
        _captures < MaxCaptures
            ? _captures++
            : throw PatternException.Malformed($"more than {MaxCaptures - 1} groups that capture");

    private PatternNode RefuseRepetition(PatternNode assertion) =>
        _position < source.Length
        && (source[_position] is '*' or '+' or '?' || (source[_position] == '{' && TryReadCounts(out _, out _)))
            ? throw PatternException.Malformed("a repetition of a position such as '^'")
            : assertion;

    private PatternNode ParseRepetition(PatternNode part, int firstCapture)
    {
        int min,
            max;
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
            case '{' when IsStrict:
                throw PatternException.Malformed("a '{' without a count");
            default:
                return part;
        }

        bool isLazy = TryTake('?');
        if (max >= 0 && max < min)
        {
            throw PatternException.Malformed($"the counts {{{min},{max}}} in the wrong order");
        }

        // JavaScript gives up an optional repetition that turns out to be empty. A search in linear time does not know
        // that, except in a loop without end, which it does not enter twice at one position; and there only if the
        // part prefers to be long.
        bool knowsEmptiness = max < 0 ? !part.HasLazy : max == min || !part.DependsOnEmptiness;
        return part.IsNullable && !knowsEmptiness
            ? throw PatternException.NotSupported(
                "a part such as '(a*)?' or '(a*?)*', whose repetitions are optional and may be empty"
            )
            : new RepetitionNode(part, min, max, isLazy, firstCapture, _captures);
    }

    /// <summary>Reads <c>{n}</c>, <c>{n,}</c> or <c>{n,m}</c> at the position, without taking it.</summary>
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

    /// <summary>Takes an escape that stands for one character.</summary>
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
                _position--;
                return TakeCharacter();
        }
    }

    private int TakeCodePoint()
    {
        int end = source.IndexOf('}', _position);
        if (!IsStrict)
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

    private CharacterSet ParseClass()
    {
        _position++;
        bool isInverse = TryTake('^');
        var ranges = new List<(int First, int Last)>();
        while (!TryTake(']'))
        {
            int first = TakeOfClass(ranges);
            bool isRange = _position + 1 < source.Length && source[_position] == '-' && source[_position + 1] != ']';
            if (!isRange)
            {
                ranges.AddRange(first < 0 ? [] : [(first, first)]);
                continue;
            }

            _position++;
            int last = TakeOfClass(ranges);
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

    /// <summary>Takes a character of a class and returns it; -1 if it was a set, which is added.</summary>
    private int TakeOfClass(List<(int First, int Last)> ranges)
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
