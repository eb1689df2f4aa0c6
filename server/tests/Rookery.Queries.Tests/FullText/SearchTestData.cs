using System.Text;
using Rookery.Queries.FullText;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Tests.FullText;

/// <summary>Helpers to search texts.</summary>
internal static class SearchTestData
{
    /// <summary>Whether a field with these values matches a search, analysed by the standard analyzer.</summary>
    internal static bool Find(string terms, bool needsAll, params string[] values)
    {
        using var analyzer = AnalyzerCatalog.Make("StandardAnalyzer");
        using var matcher = new SearchMatcher(SearchTerms.Parse(analyzer, terms, needsAll, position: 0));
        return Read(matcher, values);
    }

    /// <summary>Reads a document whose field has these values. Returns whether it matches.</summary>
    internal static bool Read(SearchMatcher matcher, params string[] values)
    {
        matcher.Begin();
        foreach (string value in values)
        {
            matcher.Add(Encoding.UTF8.GetBytes(value));
        }

        return matcher.End();
    }
}
