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

    /// <summary>Reads the options.</summary>
    /// <exception cref="QueryException">An option is invalid or unsupported.</exception>
    public SimilarityOptions(MoreLikeThisCondition condition, OperandValues operands)
    {
        var options = new ClauseOptions(condition.Options, "moreLikeThis", operands);
        int position = condition.Options?.Position ?? condition.Position;
        if (options.ReadText("StopWordsDocumentId") is not null)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "'StopWordsDocumentId' of moreLikeThis is not supported by this version.",
                position
            );
        }

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
        MinTermFrequency = options.ReadCount("MinimumTermFrequency", defaultValue: 2);
        MinDocuments = options.ReadCount("MinimumDocumentFrequency", defaultValue: 5);
        MaxDocuments = options.ReadCount("MaximumDocumentFrequency", int.MaxValue);
        MaxDocumentsShare = options.ReadNumber("MaximumDocumentFrequencyPercentage", defaultValue: 100) / 100;
        MinWordBytes = options.ReadCount("MinimumWordLength", defaultValue: 0);
        MaxWordBytes = options.ReadCount("MaximumWordLength", defaultValue: 0) is > 0 and var longest
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

    /// <summary>Minimum occurrences of a word in the model.</summary>
    public long MinTermFrequency { get; }

    /// <summary>Minimum documents that contain the word.</summary>
    public long MinDocuments { get; }

    /// <summary>Maximum documents that contain the word.</summary>
    public long MaxDocuments { get; }

    /// <summary>Maximum fraction of documents that contain the word, from 0 to 1.</summary>
    public double MaxDocumentsShare { get; }

    /// <summary>Minimum length of a word, in bytes.</summary>
    public long MinWordBytes { get; }

    /// <summary>Maximum length of a word, in bytes.</summary>
    public long MaxWordBytes { get; }

    /// <summary>
    /// Factor by which scores of words are multiplied, in addition to their weights. Null to multiply by neither.
    /// </summary>
    public double? BoostFactor { get; }

    /// <summary>The fields to compare; null for all top-level fields of the model.</summary>
    public string[]? Fields { get; }

    private static int Bounded(long value, int max, string name, int position) =>
        value <= max
            ? (int)value
            : throw new QueryException(QueryFault.TooCostly, $"'{name}' of moreLikeThis is at most {max}.", position);
}
