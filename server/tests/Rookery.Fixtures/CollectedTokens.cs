using System.Text;
using Rookery.Search.Analysis;

namespace Rookery.Fixtures;

/// <summary>A token of an analyzed text.</summary>
/// <param name="Text">The token as it is compared, folded and stemmed.</param>
/// <param name="Position">The number of words before it.</param>
/// <param name="Start">The offset of its word in the text, in bytes.</param>
/// <param name="Length">The length of its word in the text, in bytes.</param>
public sealed record CollectedToken(string Text, int Position, int Start, int Length);

/// <summary>Collects the tokens of an analyzer, up to a limit.</summary>
public readonly struct CollectedTokens(ICollection<CollectedToken> tokens, int limit = int.MaxValue) : ITokenSink
{
    public bool Add(scoped in Token token)
    {
        tokens.Add(new CollectedToken(Encoding.UTF8.GetString(token.Bytes), token.Position, token.Start, token.Length));
        return tokens.Count < limit;
    }

    /// <summary>Returns the tokens of a text.</summary>
    public static IReadOnlyList<CollectedToken> Of(
        Analyzer analyzer,
        string text,
        AnalysisPurpose purpose = AnalysisPurpose.Index,
        int limit = int.MaxValue
    )
    {
        List<CollectedToken> tokens = [];
        var sink = new CollectedTokens(tokens, limit);
        analyzer.Analyze(Encoding.UTF8.GetBytes(text), purpose, firstPosition: 0, ref sink);
        return tokens;
    }

    /// <summary>Returns the texts of the tokens of a text, separated by <c>|</c>.</summary>
    public static string Line(string analyzerName, string text, AnalysisPurpose purpose = AnalysisPurpose.Index)
    {
        using var analyzer = AnalyzerCatalog.Make(analyzerName);
        return string.Join('|', Of(analyzer, text, purpose).Select(static token => token.Text));
    }
}
