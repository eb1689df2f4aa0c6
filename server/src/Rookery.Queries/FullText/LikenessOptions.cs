using Rookery.Queries.Conditions;
using Rookery.Queries.Language;

namespace Rookery.Queries.FullText;

/// <summary>The options of <c>moreLikeThis</c>, with RavenDB's names and usual values.</summary>
internal sealed class LikenessOptions
{
    /// <summary>Words that documents are searched for, at most: each is looked for in each document.</summary>
    public const int MostTerms = SearchTerms.MostTerms;

    private const int MostTokens = 100_000;
    private const int MostFields = 64;

    /// <summary>Reads them.</summary>
    /// <exception cref="QueryException">One makes no sense, or is not supported.</exception>
    public LikenessOptions(MoreLikeThisCondition condition, OperandValues operands)
    {
        var options = new ClauseOptions(condition.Options, "moreLikeThis", operands);
        int position = condition.Options?.Position ?? condition.Position;
        if (options.Text("StopWordsDocumentId") is not null)
        {
            throw new QueryException(
                QueryFault.NotSupported,
                "'StopWordsDocumentId' of moreLikeThis is not supported by this version.",
                position
            );
        }

        Terms = Bounded(options.Count("MaximumQueryTerms", 25), MostTerms, "MaximumQueryTerms", position);
        Tokens = Bounded(
            options.Count("MaximumNumberOfTokensParsed", 5000),
            MostTokens,
            "MaximumNumberOfTokensParsed",
            position
        );
        LeastTermFrequency = options.Count("MinimumTermFrequency", 2);
        LeastDocuments = options.Count("MinimumDocumentFrequency", 5);
        MostDocuments = options.Count("MaximumDocumentFrequency", int.MaxValue);
        MostDocumentsShare = options.Number("MaximumDocumentFrequencyPercentage", 100) / 100;
        ShortestWord = options.Count("MinimumWordLength", 0);
        LongestWord = options.Count("MaximumWordLength", 0) is > 0 and var longest ? longest : long.MaxValue;
        double factor = options.Number("BoostFactor", 1);
        BoostFactor = options.Flag("Boost") ? factor : null;
        Fields = options.Texts("Fields");
        options.RefuseOthers();
        Bounded(Fields?.Length ?? 0, MostFields, "Fields", position);
    }

    /// <summary>Words that documents are searched for.</summary>
    public int Terms { get; }

    /// <summary>Words of one field of the given document that are read.</summary>
    public int Tokens { get; }

    /// <summary>How often the given document has a word at least.</summary>
    public long LeastTermFrequency { get; }

    /// <summary>How many documents have it at least.</summary>
    public long LeastDocuments { get; }

    /// <summary>How many documents have it at most.</summary>
    public long MostDocuments { get; }

    /// <summary>Which share of all documents has it at most, from 0 to 1.</summary>
    public double MostDocumentsShare { get; }

    /// <summary>Bytes of a word, at least.</summary>
    public long ShortestWord { get; }

    /// <summary>Bytes of a word, at most.</summary>
    public long LongestWord { get; }

    /// <summary>
    /// What scores of words are multiplied with beside their weight; null where weights do not count.
    /// </summary>
    public double? BoostFactor { get; }

    /// <summary>The fields that are compared; null for all at the top of the given document.</summary>
    public string[]? Fields { get; }

    private static int Bounded(long value, int most, string name, int position) =>
        value <= most
            ? (int)value
            : throw new QueryException(QueryFault.TooCostly, $"'{name}' of moreLikeThis is at most {most}.", position);
}
