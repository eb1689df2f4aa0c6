using System.Globalization;
using System.Text;

namespace Rookery.Queries.Language;

/// <summary>
/// Parses a clause of Lucene's query language by the rules of Lucene's classic parser: terms are optional, <c>AND</c>
/// makes the terms on both sides required, <c>OR</c> changes nothing, <c>NOT</c>, <c>!</c> and <c>-</c> exclude,
/// <c>+</c> requires.
/// </summary>
public sealed class LuceneParser
{
    /// <summary>Maximum terms of a clause. Each is compared with each text.</summary>
    public const int MaxTerms = 64;

    /// <summary>
    /// Maximum bytes of a term with <c>*</c> or <c>?</c>, which is compared byte by byte with each indexed term.
    /// </summary>
    public const int MaxPatternBytes = 512;

    /// <summary>
    /// Maximum distance of <c>proximity()</c> and of a phrase, in words. Less than the gap between the positions of two
    /// values of a field, so a phrase never spans two values.
    /// </summary>
    public const int MaxSlop = 1000;

    private const int MaxDepth = 32;
    private const double DefaultSimilarity = 0.5;
    private const string Special = "+-!():^[]\"{}~*?\\";

    private static readonly string[] Operators = ["AND", "&&", "OR", "||", "NOT"];

    private readonly string _clause;
    private readonly int _position;
    private int _next;
    private int _depth;
    private int _terms;

    private LuceneParser(string clause, int position) => (_clause, _position) = (clause, position);

    /// <summary>Parses a whole clause.</summary>
    /// <param name="clause">The clause. The caller limits its length.</param>
    /// <param name="position">The position in the query's text, for errors.</param>
    /// <exception cref="QueryException">The clause is invalid or too large.</exception>
    public static LuceneClause Parse(string clause, int position)
    {
        var parser = new LuceneParser(clause, position);
        var parsed = parser.ReadQuery(field: null);
        return parser._next == clause.Length
            ? parsed
            : throw parser.Invalid($"'{clause[parser._next]}' is not expected");
    }

    private bool IsAtEnd => _next == _clause.Length;

    private LuceneBoolean ReadQuery(string? field)
    {
        if (++_depth > MaxDepth)
        {
            throw TooCostly($"brackets nested {MaxDepth} levels deep");
        }

        var parts = new List<(LuceneOccur Occur, LuceneClause Clause)>();
        do
        {
            bool isAnd = false;
            if (parts.Count > 0)
            {
                isAnd = TryTakeWord("AND") || TryTakeWord("&&");
                _ = isAnd || TryTakeWord("OR") || TryTakeWord("||");
            }

            var occur = ReadOccur();
            if (isAnd && parts[^1].Occur == LuceneOccur.Should)
            {
                parts[^1] = (LuceneOccur.Must, parts[^1].Clause);
            }

            parts.Add((isAnd && occur == LuceneOccur.Should ? LuceneOccur.Must : occur, ReadClause(field)));
            SkipSpaces();
        } while (!IsAtEnd && _clause[_next] != ')');
        _depth--;
        return new LuceneBoolean(parts);
    }

    private LuceneOccur ReadOccur()
    {
        if (TryTake('+'))
        {
            return LuceneOccur.Must;
        }

        return TryTake('-') || TryTake('!') || TryTakeWord("NOT") ? LuceneOccur.MustNot : LuceneOccur.Should;
    }

    private LuceneClause ReadClause(string? field)
    {
        if (TryReadField() is { } named)
        {
            if (named is "*")
            {
                return TryTake('*') ? ReadBoost(new LuceneEvery()) : throw Invalid("'*:' takes '*' alone");
            }

            field = named;
        }

        if (TryTake('('))
        {
            var inner = ReadQuery(field);
            return TryTake(')') ? ReadBoost(inner) : throw Invalid("')' is missing");
        }

        return ReadLeaf(field);
    }

    /// <summary>Returns the name before a colon; null if there is none here.</summary>
    private string? TryReadField()
    {
        SkipSpaces();
        int start = _next;
        string? name = null;
        if (TryTake('*'))
        {
            name = "*";
        }
        else if (IsTermStart() && ReadTerm(out bool isPattern) is var term && !isPattern)
        {
            name = term;
        }

        if (name is not null && TryTake(':'))
        {
            return name;
        }

        _next = start;
        return null;
    }

    private LuceneClause ReadLeaf(string? field)
    {
        if (++_terms > MaxTerms)
        {
            throw TooCostly($"{MaxTerms} terms");
        }

        if (TryTake('"'))
        {
            string phrase = ReadQuoted();
            return ReadBoost(new LuceneText(field, phrase, TryTake('~') ? (int)(TryReadNumber(MaxSlop) ?? 0) : 0));
        }

        if (TryTake('['))
        {
            return ReadBoost(ReadRange(field, ']'));
        }

        if (TryTake('{'))
        {
            return ReadBoost(ReadRange(field, '}'));
        }

        foreach (string word in Operators)
        {
            if (TryTakeWord(word))
            {
                throw Invalid($"'{word}' stands where a term must stand");
            }
        }

        if (!IsTermStart() && (IsAtEnd || _clause[_next] is not ('*' or '?')))
        {
            throw Invalid(
                IsAtEnd ? "a term is missing at its end" : $"'{_clause[_next]}' stands where a term must stand"
            );
        }

        string text = ReadTerm(out bool isPattern);
        if (isPattern && Encoding.UTF8.GetByteCount(text) > MaxPatternBytes)
        {
            throw TooCostly($"{MaxPatternBytes} bytes in a term with '*' or '?'");
        }

        if (isPattern)
        {
            return IsAt('~')
                ? throw Invalid("a term with '*' or '?' takes no '~'")
                : ReadBoost(new LucenePattern(field, text));
        }

        // The boost may precede the similarity.
        double? boost = TryReadBoost();
        LuceneLeaf leaf = TryTake('~')
            ? new LuceneSimilar(field, text, ReadSimilarity())
            : new LuceneText(field, text, Slop: 0);
        return boost is { } factor ? new LuceneBoosted(leaf, factor) : ReadBoost(leaf);
    }

    private LuceneRange ReadRange(string? field, char end)
    {
        string? low = ReadBound(end);
        _ = TryTakeWord("TO");
        string? high = ReadBound(end);
        return TryTake(end)
            ? new LuceneRange(field, low, high, end == ']')
            : throw Invalid($"'{end}' is missing after a range of two terms");
    }

    /// <summary>Returns a bound of a range; null for a star, which means no bound.</summary>
    private string? ReadBound(char end)
    {
        if (TryTake('"'))
        {
            return ReadQuoted();
        }

        SkipSpaces();
        int start = _next;
        while (!IsAtEnd && _clause[_next] != end && !IsSpace(_clause[_next]))
        {
            _next++;
        }

        string bound = _clause[start.._next];
        if (bound.Length == 0)
        {
            throw Invalid("a range has two terms: [a TO b]");
        }

        return bound is "*" ? null : WithoutEscapes(bound);
    }

    private LuceneClause ReadBoost(LuceneClause clause) =>
        TryReadBoost() is { } factor ? new LuceneBoosted(clause, factor) : clause;

    private double? TryReadBoost()
    {
        if (!TryTake('^'))
        {
            return null;
        }

        return TryReadNumber(double.MaxValue) is > 0 and var factor
            ? factor
            : throw Invalid("'^' needs a factor above 0");
    }

    private double ReadSimilarity()
    {
        double similarity = TryReadNumber(double.MaxValue) ?? DefaultSimilarity;
        return similarity < 1 ? similarity : throw Invalid("'~' after a term takes a similarity from 0 to below 1");
    }

    /// <summary>
    /// Reads a number without skipping spaces: digits, a point, digits. Returns null if there is none.
    /// </summary>
    private double? TryReadNumber(double max)
    {
        int start = _next;
        while (!IsAtEnd && (char.IsAsciiDigit(_clause[_next]) || _clause[_next] == '.'))
        {
            _next++;
        }

        if (_next == start)
        {
            return null;
        }

        string text = _clause[start.._next];
        return
            double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out double number)
            && number <= max
            ? number
            : throw Invalid($"'{text}' is no number up to {max.ToString(CultureInfo.InvariantCulture)}");
    }

    private string ReadQuoted()
    {
        int start = _next;
        while (!IsAtEnd && _clause[_next] != '"')
        {
            // A backslash at the end escapes nothing.
            _next = Math.Min(_next + (_clause[_next] == '\\' ? 2 : 1), _clause.Length);
        }

        if (IsAtEnd)
        {
            throw Invalid("a quote is not closed");
        }

        return WithoutEscapes(_clause[start.._next++]);
    }

    /// <summary>
    /// Reads a term. Writes stars and question marks as the wildcards of <see cref="LucenePattern"/>.
    /// </summary>
    private string ReadTerm(out bool isPattern)
    {
        var term = new StringBuilder();
        isPattern = false;
        while (!IsAtEnd && !IsSpace(_clause[_next]))
        {
            char current = _clause[_next];
            if (current == '\\')
            {
                term.Append(ReadEscape());
                continue;
            }

            if (IsSpecial(current) && current is not ('*' or '?' or '-' or '+'))
            {
                break;
            }

            isPattern |= current is '*' or '?';
            term.Append(
                current == '*' ? LucenePattern.Many
                : current == '?' ? LucenePattern.One
                : current
            );
            _next++;
        }

        return term.ToString();
    }

    private char ReadEscape()
    {
        if (++_next >= _clause.Length)
        {
            throw Invalid("a character is missing after its last '\\'");
        }

        char escaped = _clause[_next++];
        if (escaped != 'u')
        {
            return escaped;
        }

        const NumberStyles Hex = NumberStyles.AllowHexSpecifier;
        if (
            _next + 4 <= _clause.Length
            && ushort.TryParse(_clause.AsSpan(_next, 4), Hex, CultureInfo.InvariantCulture, out ushort code)
        )
        {
            _next += 4;
            return (char)code;
        }

        throw Invalid("'\\u' needs four hexadecimal digits");
    }

    private string WithoutEscapes(string text)
    {
        if (!text.Contains('\\', StringComparison.Ordinal))
        {
            return text;
        }

        var inner = new LuceneParser(text, _position);
        var plain = new StringBuilder();
        while (!inner.IsAtEnd)
        {
            plain.Append(text[inner._next] == '\\' ? inner.ReadEscape() : text[inner._next++]);
        }

        return plain.ToString();
    }

    private bool IsTermStart() =>
        !IsAtEnd && !IsSpace(_clause[_next]) && (_clause[_next] == '\\' || !IsSpecial(_clause[_next]));

    private static bool IsSpecial(char c) => Special.Contains(c, StringComparison.Ordinal);

    private static bool IsSpace(char c) => c is ' ' or '\t' or '\n' or '\r' or '\u3000';

    private void SkipSpaces()
    {
        while (!IsAtEnd && IsSpace(_clause[_next]))
        {
            _next++;
        }
    }

    private bool IsAt(char symbol) => !IsAtEnd && _clause[_next] == symbol;

    private bool TryTake(char symbol)
    {
        SkipSpaces();
        bool isThere = IsAt(symbol);
        _next += isThere ? 1 : 0;
        return isThere;
    }

    /// <summary>Takes a whole word if it is next. Does not take the <c>AND</c> of <c>ANDROID</c>.</summary>
    private bool TryTakeWord(string word)
    {
        SkipSpaces();
        int end = _next + word.Length;
        if (
            string.CompareOrdinal(_clause, _next, word, 0, word.Length) != 0
            || (end < _clause.Length && !EndsTerm(_clause[end]))
        )
        {
            return false;
        }

        _next = end;
        return true;
    }

    private static bool EndsTerm(char c) => IsSpace(c) || (IsSpecial(c) && c is not ('*' or '?' or '-' or '+' or '\\'));

    private QueryException Invalid(string problem) =>
        new(QueryFault.Invalid, $"The Lucene clause is wrong: {problem}.", _position);

    private QueryException TooCostly(string max) =>
        new(QueryFault.TooCostly, $"A Lucene clause takes at most {max}.", _position);
}
