using System.Text;
using Rookery.Search.Analysis;

namespace Rookery.Fixtures;

/// <summary>A token as a test compares it.</summary>
public sealed record CollectedToken(string Text, int Position, int Start, int Length);

/// <summary>Runs analyzers and collects their tokens.</summary>
public readonly struct CollectedTokens(ICollection<CollectedToken> tokens, int limit = int.MaxValue) : ITokenSink
{
    public bool Add(scoped in Token token)
    {
        tokens.Add(new CollectedToken(Encoding.UTF8.GetString(token.Bytes), token.Position, token.Start, token.Length));
        return tokens.Count < limit;
    }

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

    /// <summary>Returns the tokens, separated by bars.</summary>
    public static string Line(string analyzerName, string text, AnalysisPurpose purpose = AnalysisPurpose.Index)
    {
        using var analyzer = AnalyzerCatalog.Make(analyzerName);
        return string.Join('|', Of(analyzer, text, purpose).Select(static token => token.Text));
    }
}
