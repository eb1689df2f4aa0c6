using System.Text;
using Rookery.Indexing.Language;

namespace Rookery.Indexing.Scanning;

/// <summary>
/// Reads the part of Lucene's query language that <c>lucene(field, clause)</c> takes: terms, with <c>*</c> and <c>?</c>, in quotes as they are, joined by <c>AND</c>, <c>OR</c>, <c>NOT</c> (<c>&amp;&amp;</c>,
/// <c>||</c>, <c>!</c>) and brackets. Terms side by side are joined by OR. A term stands for a whole value.
/// </summary>
/// <param name="clause">The clause.</param>
/// <param name="isExact">Whether letters count with their case.</param>
/// <param name="position">Where it stands in the query.</param>
internal sealed class LuceneClauseParser(string clause, bool isExact, int position)
{
    /// <summary>Terms of a clause: each is compared with each text.</summary>
    private const int MaxTerms = 64;

    private const int MaxDepth = 32;
    private const string Refused = "^~[]{}+-:/";

    private int at;
    private int depth;
    private int terms;

    /// <summary>Reads all of it.</summary>
    /// <exception cref="QueryException">It is wrong, or of a part that is not supported.</exception>
    public TextPattern Parse()
    {
        TextPattern pattern = ParseOr();
        return at == clause.Length ? pattern : throw Invalid($"'{clause[at]}' is not expected");
    }

    private TextPattern ParseOr()
    {
        if (++depth > MaxDepth)
        {
            throw new QueryException(QueryFault.TooCostly, $"Brackets of a Lucene clause are nested deeper than {MaxDepth} levels.", position);
        }

        var patterns = new List<TextPattern> { ParseAnd() };
        while (at < clause.Length && clause[at] != ')')
        {
            _ = TryTake("OR") || TryTake("||");
            patterns.Add(ParseAnd());
        }

        depth--;
        return patterns.Count == 1 ? patterns[0] : new AnyPattern([.. patterns]);
    }

    private TextPattern ParseAnd()
    {
        var patterns = new List<TextPattern> { ParseOne() };
        while (TryTake("AND") || TryTake("&&"))
        {
            patterns.Add(ParseOne());
        }

        return patterns.Count == 1 ? patterns[0] : new AllPattern([.. patterns]);
    }

    private TextPattern ParseOne()
    {
        bool isNegated = false;
        while (TryTake("NOT") || TryTake("!"))
        {
            isNegated = !isNegated;
        }

        SkipSpaces();
        TextPattern pattern = TryTake("(") ? ParseBracket() : ParseTerm();
        return isNegated ? new OtherPattern(pattern) : pattern;
    }

    private TextPattern ParseBracket()
    {
        TextPattern pattern = ParseOr();
        return TryTake(")") ? pattern : throw Invalid("')' is missing");
    }

    private TextPattern ParseTerm()
    {
        if (at == clause.Length)
        {
            throw Invalid("a term is missing at its end");
        }

        if (++terms > MaxTerms)
        {
            throw new QueryException(QueryFault.TooCostly, $"A Lucene clause takes at most {MaxTerms} terms.", position);
        }

        if (clause[at] == '"')
        {
            int end = clause.IndexOf('"', at + 1);
            if (end < 0)
            {
                throw Invalid("a quote is not closed");
            }

            string quoted = clause[(at + 1)..end];
            at = end + 1;
            SkipSpaces();
            return new WholePattern(Term(quoted));
        }

        int start = at;
        while (at < clause.Length && clause[at] is not (' ' or '(' or ')' or '"'))
        {
            if (Refused.Contains(clause[at]) || clause[at] == '\\')
            {
                throw new QueryException(QueryFault.NotSupported, $"'lucene' with '{clause[at]}' is not supported: terms, *, ?, quotes, AND, OR, NOT and brackets are.", position);
            }

            at++;
        }

        byte[] term = Term(clause[start..at]);
        SkipSpaces();
        if (term.Length == 0)
        {
            throw Invalid("a term is missing");
        }

        return term.Length > WildcardPattern.MaxBytes
            ? throw new QueryException(QueryFault.TooCostly, $"A term of a Lucene clause takes at most {WildcardPattern.MaxBytes} bytes.", position)
            : new WildcardPattern(term);
    }

    private byte[] Term(string text) => isExact ? Encoding.UTF8.GetBytes(text) : ConditionCompiler.Fold(Encoding.UTF8.GetBytes(text));

    private bool TryTake(string token)
    {
        SkipSpaces();
        if (string.CompareOrdinal(clause, at, token, 0, token.Length) != 0 || (char.IsAsciiLetter(token[0]) && at + token.Length < clause.Length && clause[at + token.Length] is not (' ' or '(' or '"')))
        {
            return false;
        }

        at += token.Length;
        SkipSpaces();
        return true;
    }

    private void SkipSpaces()
    {
        while (at < clause.Length && clause[at] == ' ')
        {
            at++;
        }
    }

    private QueryException Invalid(string what) => new(QueryFault.Invalid, $"The Lucene clause is wrong: {what}.", position);

    /// <summary>A text that is exactly the term.</summary>
    private sealed class WholePattern(byte[] term) : TextPattern
    {
        public override ReadOnlySpan<byte> Prefix => term;

        public override bool Matches(ReadOnlySpan<byte> text, ScanWork work) => text.SequenceEqual(term);
    }

    private sealed class AnyPattern(TextPattern[] inner) : TextPattern
    {
        public override bool Matches(ReadOnlySpan<byte> text, ScanWork work)
        {
            foreach (TextPattern pattern in inner)
            {
                if (pattern.Matches(text, work))
                {
                    return true;
                }
            }

            return false;
        }
    }

    private sealed class AllPattern(TextPattern[] inner) : TextPattern
    {
        public override bool Matches(ReadOnlySpan<byte> text, ScanWork work)
        {
            foreach (TextPattern pattern in inner)
            {
                if (!pattern.Matches(text, work))
                {
                    return false;
                }
            }

            return true;
        }
    }

    private sealed class OtherPattern(TextPattern inner) : TextPattern
    {
        public override bool Matches(ReadOnlySpan<byte> text, ScanWork work) => !inner.Matches(text, work);
    }
}
