using System.Text;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.FullText;

/// <summary>The options of <c>moreLikeThis</c>, with RavenDB's names and defaults.</summary>
internal sealed class SimilarityOptions
{
    /// <summary>Maximum words to search for. Each is searched in each document.</summary>
    public const int MaxTerms = SearchTerms.MaxTerms;

    private const int MaxTokens = 100_000;
    private const int MaxFields = 64;

    private readonly long _minTermFrequency;
    private readonly long _minWordLength;
    private readonly long _maxWordLength;

    /// <summary>Reads the options.</summary>
    /// <exception cref="QueryException">An option is invalid or unsupported.</exception>
    public SimilarityOptions(MoreLikeThisCondition condition, OperandValues operands)
    {
        var options = new ClauseOptions(condition.Options, "moreLikeThis", operands);
        int position = condition.Options?.Position ?? condition.Position;
        StopWordsId = options.ReadText("StopWordsDocumentId");
        Terms = Bounded(
            options.ReadCount("MaximumQueryTerms", defaultValue: 25),
            MaxTerms,
            "MaximumQueryTerms",
            position
        );
        Tokens = Bounded(
            options.ReadCount("MaximumNumberOfTokensParsed", defaultValue: 5000),
            MaxTokens,
            "MaximumNumberOfTokensParsed",
            position
        );
        _minTermFrequency = options.ReadCount("MinimumTermFrequency", defaultValue: 2);
        MinDocuments = options.ReadCount("MinimumDocumentFrequency", defaultValue: 5);
        MaxDocuments = options.ReadCount("MaximumDocumentFrequency", int.MaxValue);
        MaxDocumentsShare = double.PositiveInfinity;
        if (options.ReadNumber("MaximumDocumentFrequencyPercentage", defaultValue: -1) is >= 0 and var percentage)
        {
            // As in RavenDB, the percentage replaces the number.
            (MaxDocuments, MaxDocumentsShare) = (int.MaxValue, percentage / 100);
        }

        _minWordLength = options.ReadCount("MinimumWordLength", defaultValue: 0);
        _maxWordLength = options.ReadCount("MaximumWordLength", defaultValue: 0) is > 0 and var longest
            ? longest
            : long.MaxValue;
        double factor = options.ReadNumber("BoostFactor", defaultValue: 1);
        BoostFactor = options.ReadFlag("Boost") ? factor : null;
        Fields = options.ReadTexts("Fields");
        options.RefuseUnread();
        Bounded(Fields?.Length ?? 0, MaxFields, "Fields", position);
    }

    /// <summary>Number of words to search for.</summary>
    public int Terms { get; }

    /// <summary>Maximum words to read of one field of the model.</summary>
    public int Tokens { get; }

    /// <summary>Minimum documents that contain the word.</summary>
    public long MinDocuments { get; }

    /// <summary>Maximum documents that contain the word.</summary>
    public long MaxDocuments { get; }

    /// <summary>Maximum fraction of documents that contain the word, from 0 to 1; infinite without a limit.</summary>
    public double MaxDocumentsShare { get; }

    /// <summary>
    /// Factor by which scores of words are multiplied, in addition to their weights. Null to multiply by neither.
    /// </summary>
    public double? BoostFactor { get; }

    /// <summary>
    /// The fields to compare. Null for all full-text fields of the index, or if documents are evaluated, for all texts
    /// and arrays at the top level of the model.
    /// </summary>
    public string[]? Fields { get; }

    /// <summary>The id of a document that lists words to ignore; null for none.</summary>
    public string? StopWordsId { get; }

    /// <summary>Returns whether a word of the model occurs often enough, and has a permitted length.</summary>
    /// <param name="word">The word in UTF-8. Its length is counted in UTF-16 characters, as RavenDB does.</param>
    /// <param name="occurrences">How often it occurs in the model.</param>
    public bool IsSignificant(ReadOnlySpan<byte> word, int occurrences)
    {
        int length = Encoding.UTF8.GetCharCount(word);
        return occurrences >= _minTermFrequency && length >= _minWordLength && length <= _maxWordLength;
    }

    private static int Bounded(long value, int max, string name, int position) =>
        value <= max
            ? (int)value
            : throw new QueryException(QueryFault.TooCostly, $"'{name}' of moreLikeThis is at most {max}.", position);
}
