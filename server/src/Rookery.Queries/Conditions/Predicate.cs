using Rookery.Indexing.Values;
using Rookery.Search.Values;

namespace Rookery.Queries.Conditions;

/// <summary>
/// A compiled condition, evaluated for one document or row at a time. Thread-safe: all mutable state is in
/// <see cref="ScanWork"/>, except in full-text conditions.
/// </summary>
internal abstract class Predicate
{
    /// <summary>Returns whether a document matches.</summary>
    /// <param name="document">The document.</param>
    /// <param name="work">The evaluation's limits and buffers.</param>
    public abstract bool Matches(in QueriedDocument document, ScanWork work);

    /// <summary>Computes the score of a document. The default is 1 for a match.</summary>
    /// <param name="document">The document.</param>
    /// <param name="work">The evaluation's limits and buffers.</param>
    /// <param name="score">The score; 0 if the document does not match.</param>
    /// <returns>Whether the document matches.</returns>
    public virtual bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        bool matches = Matches(document, work);
        score = matches ? 1 : 0;
        return matches;
    }
}

/// <summary>Matches every document, or none.</summary>
internal sealed class ConstantPredicate(bool value) : Predicate
{
    public bool Value => value;

    public override bool Matches(in QueriedDocument document, ScanWork work) => value;
}

/// <summary>Matches where the inner condition does not.</summary>
internal sealed class NotPredicate(Predicate inner) : Predicate
{
    public Predicate Inner => inner;

    public override bool Matches(in QueriedDocument document, ScanWork work) => !inner.Matches(document, work);

    /// <summary>Scores 0, because a negation does not make a document more relevant.</summary>
    public override bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        score = 0;
        return Matches(document, work);
    }
}

/// <summary>Multiplies the inner score.</summary>
internal sealed class BoostPredicate(Predicate inner, double factor) : Predicate
{
    // A sum of fewer than 100 million such scores is finite, so every score can be written as JSON.
    private const double MaxScore = 1e300;

    public Predicate Inner => inner;

    public double Factor => factor;

    public override bool Matches(in QueriedDocument document, ScanWork work) => inner.Matches(document, work);

    public override bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        bool matches = inner.TryScore(document, work, out score);
        score = Multiply(score, factor);
        return matches;
    }

    /// <summary>Returns a score multiplied by a factor, at most 1e300.</summary>
    internal static double Multiply(double score, double factor) => Math.Min(score * factor, MaxScore);
}

/// <summary>Matches where all inner conditions match. Adds their scores.</summary>
internal sealed class AndPredicate(Predicate[] inner) : Predicate
{
    public ReadOnlySpan<Predicate> Inner => inner;

    public override bool Matches(in QueriedDocument document, ScanWork work)
    {
        foreach (Predicate predicate in inner)
        {
            if (!predicate.Matches(document, work))
            {
                return false;
            }
        }

        return true;
    }

    public override bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        score = 0;
        foreach (Predicate predicate in inner)
        {
            if (!predicate.TryScore(document, work, out double own))
            {
                score = 0;
                return false;
            }

            score += own;
        }

        return true;
    }
}

/// <summary>Matches where any inner condition matches. Adds the scores of those that match.</summary>
internal sealed class OrPredicate(Predicate[] inner) : Predicate
{
    public ReadOnlySpan<Predicate> Inner => inner;

    public override bool Matches(in QueriedDocument document, ScanWork work)
    {
        foreach (Predicate predicate in inner)
        {
            if (predicate.Matches(document, work))
            {
                return true;
            }
        }

        return false;
    }

    public override bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        score = 0;
        bool matches = false;
        foreach (Predicate predicate in inner)
        {
            if (predicate.TryScore(document, work, out double own))
            {
                score += own;
                matches = true;
            }
        }

        return matches;
    }
}

/// <summary>Matches where a field has a value.</summary>
internal sealed class ExistsPredicate(FieldReader reader) : Predicate
{
    public FieldReader Reader => reader;

    public override bool Matches(in QueriedDocument document, ScanWork work)
    {
        work.CountBytes(document.Members.Length);
        var any = default(AnyValue);
        return !reader.Read(document, ref any); // false: the visitor ended the reading, here at the first value
    }

    private readonly struct AnyValue : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json) => false;
    }
}

/// <summary>Matches where a value of a field is one of several.</summary>
internal sealed class TermsPredicate(FieldReader reader, TermSet terms, bool isExact) : Predicate
{
    public FieldReader Reader => reader;

    public TermSet Terms => terms;

    public bool IsExact => isExact;

    public override bool Matches(in QueriedDocument document, ScanWork work)
    {
        work.CountBytes(document.Members.Length);
        var visitor = new Visitor(terms, isExact);
        return !reader.Read(document, ref visitor); // false: the visitor ended the reading, because a value matches
    }

    private readonly struct Visitor(TermSet terms, bool isExact) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            if (!terms.MayHold(json[0]))
            {
                return true;
            }

            Span<byte> key = stackalloc byte[TermKey.MaxBytes];
            return terms.IndexOf(key[..TermKey.Write(json, isExact, key)]) < 0;
        }
    }
}

/// <summary>Matches where a field has all of several values.</summary>
internal sealed class AllTermsPredicate(FieldReader reader, TermSet terms, bool isExact) : Predicate
{
    public FieldReader Reader => reader;

    public TermSet Terms => terms;

    public bool IsExact => isExact;

    public override bool Matches(in QueriedDocument document, ScanWork work)
    {
        work.CountBytes(document.Members.Length);
        work.ClearFlags(terms.Count);
        var visitor = new Visitor(terms, isExact, work.Flags);
        return !reader.Read(document, ref visitor);
    }

    // The bits of foundTerms mark the terms that occurred.
    private struct Visitor(TermSet terms, bool isExact, ulong[] foundTerms) : IValueVisitor
    {
        private int _missing = terms.Count;

        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            if (!terms.MayHold(json[0]))
            {
                return true;
            }

            Span<byte> key = stackalloc byte[TermKey.MaxBytes];
            int index = terms.IndexOf(key[..TermKey.Write(json, isExact, key)]);
            if (index >= 0 && (foundTerms[index / 64] & (1UL << (index % 64))) == 0)
            {
                foundTerms[index / 64] |= 1UL << (index % 64);
                _missing--;
            }

            return _missing > 0;
        }
    }
}

/// <summary>Matches where a value of a field is in a range.</summary>
internal sealed class RangePredicate(FieldReader reader, KeyRange range, bool isExact) : Predicate
{
    public FieldReader Reader => reader;

    public KeyRange Range => range;

    public bool IsExact => isExact;

    public override bool Matches(in QueriedDocument document, ScanWork work)
    {
        work.CountBytes(document.Members.Length);
        var visitor = new Visitor(range, isExact);
        return !reader.Read(document, ref visitor);
    }

    private readonly struct Visitor(KeyRange range, bool isExact) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            Span<byte> key = stackalloc byte[TermKey.MaxBytes];
            return !range.Contains(key[..TermKey.Write(json, isExact, key)]);
        }
    }
}
