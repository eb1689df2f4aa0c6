using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Search.Analysis;
using Rookery.Search.Values;

namespace Rookery.Queries.FullText;

/// <summary>
/// <c>fuzzy</c> over the documents of a scan: whole values, compared without case as equality does. Scores 1.
/// </summary>
/// <param name="wanted">What they must be similar to, without case.</param>
/// <param name="reader">Where the values stand.</param>
/// <param name="text">Room for texts.</param>
internal sealed class FuzzyField(FuzzyText wanted, FieldReader reader, SearchableText text) : IDocumentCondition
{
    /// <summary>What the values must be similar to, without case.</summary>
    internal FuzzyText Wanted => wanted;

    /// <summary>Where the values stand.</summary>
    internal FieldReader Reader => reader;

    /// <inheritdoc/>
    public bool Matches(in QueriedDocument document, ScanWork work)
    {
        var visitor = new Visitor(wanted, text, work);
        return !reader.Read(document, ref visitor);
    }

    /// <inheritdoc/>
    public bool TryScore(in QueriedDocument document, ScanWork work, out double score)
    {
        bool matches = Matches(document, work);
        score = matches ? 1 : 0;
        return matches;
    }

    private readonly struct Visitor(FuzzyText wanted, SearchableText text, ScanWork work) : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            var value = text.Of(json);
            if (json[0] is not (byte)'"' || value.Length > FuzzyText.LongestSimilarBytes)
            {
                return true;
            }

            Span<byte> folded = stackalloc byte[TextFolding.MaxBytes(FuzzyText.LongestSimilarBytes)];
            int length = DateText.TryWrite(value, folded) ? DateText.Length : TextFolding.FoldAll(value, folded);
            return !wanted.Matches(folded[..length], work);
        }
    }
}
