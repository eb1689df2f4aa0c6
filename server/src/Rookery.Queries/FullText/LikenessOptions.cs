using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.FullText;

/// <summary>The options of <c>moreLikeThis</c>, with RavenDB's names and defaults.</summary>
internal sealed class LikenessOptions
{
    /// <summary>Maximum words to search for. Each is searched in each document.</summary>
    public const int MostTerms = SearchTerms.MostTerms;

    private const int MostTokens = 100_000;
    private const int MostFields = 64;

    /// <summary>Reads the options.</summary>
    /// <exception cref="QueryException">An option is invalid or unsupported.</exception>
    public LikenessOptions(MoreLikeThisCondition condition, OperandValues operands)
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

        Terms = Bounded(options.ReadCount("MaximumQueryTerms", 25), MostTerms, "MaximumQueryTerms", position);
        Tokens = Bounded(
            options.ReadCount("MaximumNumberOfTokensParsed", 5000),
            MostTokens,
            "MaximumNumberOfTokensParsed",
            position
        );
        LeastTermFrequency = options.ReadCount("MinimumTermFrequency", 2);
        LeastDocuments = options.ReadCount("MinimumDocumentFrequency", 5);
        MostDocuments = options.ReadCount("MaximumDocumentFrequency", int.MaxValue);
        MostDocumentsShare = options.ReadNumber("MaximumDocumentFrequencyPercentage", 100) / 100;
        ShortestWord = options.ReadCount("MinimumWordLength", 0);
        LongestWord = options.ReadCount("MaximumWordLength", 0) is > 0 and var longest ? longest : long.MaxValue;
        double factor = options.ReadNumber("BoostFactor", 1);
        BoostFactor = options.ReadFlag("Boost") ? factor : null;
        Fields = options.ReadTexts("Fields");
        options.RefuseUnread();
        Bounded(Fields?.Length ?? 0, MostFields, "Fields", position);
    }

    /// <summary>Number of words to search for.</summary>
    public int Terms { get; }

    /// <summary>Maximum words to read of one field of the model.</summary>
    public int Tokens { get; }

    /// <summary>Minimum occurrences of a word in the model.</summary>
    public long LeastTermFrequency { get; }

    /// <summary>Minimum documents that contain the word.</summary>
    public long LeastDocuments { get; }

    /// <summary>Maximum documents that contain the word.</summary>
    public long MostDocuments { get; }

    /// <summary>Maximum fraction of documents that contain the word, from 0 to 1.</summary>
    public double MostDocumentsShare { get; }

    /// <summary>Minimum length of a word, in bytes.</summary>
    public long ShortestWord { get; }

    /// <summary>Maximum length of a word, in bytes.</summary>
    public long LongestWord { get; }

    /// <summary>
    /// Factor by which scores of words are multiplied, in addition to their weights. Null to multiply by neither.
    /// </summary>
    public double? BoostFactor { get; }

    /// <summary>The fields to compare; null for all top-level fields of the model.</summary>
    public string[]? Fields { get; }

    private static int Bounded(long value, int most, string name, int position) =>
        value <= most
            ? (int)value
            : throw new QueryException(QueryFault.TooCostly, $"'{name}' of moreLikeThis is at most {most}.", position);
}
