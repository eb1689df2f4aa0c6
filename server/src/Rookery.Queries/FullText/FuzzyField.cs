using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Search.Analysis;
using Rookery.Search.Values;

namespace Rookery.Queries.FullText;

/// <summary>
/// Evaluates <c>fuzzy</c> for a document. Compares whole values without case, like equality. Scores 1.
/// </summary>
/// <param name="wanted">The text to compare with, folded.</param>
/// <param name="reader">Reads the values.</param>
/// <param name="text">Buffer for a text.</param>
internal sealed class FuzzyField(FuzzyText wanted, FieldReader reader, SearchableText text) : IDocumentCondition
{
    /// <summary>The text to compare with, folded.</summary>
    internal FuzzyText Wanted => wanted;

    /// <summary>Reads the values.</summary>
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
            if (json[0] is not (byte)'"' || value.Length > FuzzyText.MaxSimilarBytesOfAnyText)
            {
                return true;
            }

            Span<byte> folded = stackalloc byte[TextFolding.MaxBytes(FuzzyText.MaxSimilarBytesOfAnyText)];
            int length = DateText.TryWrite(value, folded) ? DateText.Length : TextFolding.FoldAll(value, folded);
            return !wanted.Matches(folded[..length], work);
        }
    }
}
