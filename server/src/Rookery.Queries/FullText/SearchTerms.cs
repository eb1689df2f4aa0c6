using System.Text;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// Parses the terms of <c>search(field, 'a b* "a phrase" *c*')</c>: words separated by white space, phrases in quotes,
/// <c>*</c> for any characters within a token, and <c>\</c> to escape a star, a quote or a backslash. A word that the
/// analyzer splits becomes a phrase. A word that the analyzer removes (a stop word, a dash) is ignored.
/// </summary>
public static class SearchTerms
{
    /// <summary>Maximum tokens and patterns of a search.</summary>
    public const int MaxTerms = 1024;

    /// <summary>Maximum patterns of a search. Each is compared with every token of a scan or dictionary.</summary>
    public const int MaxWildcards = 64;

    /// <summary>Maximum tokens of a phrase.</summary>
    public const int MaxWordsOfPhrase = 64;

    /// <summary>Parses and analyzes the terms of a search.</summary>
    /// <param name="analyzer">The analyzer of the field.</param>
    /// <param name="terms">The words.</param>
    /// <param name="needsAll">Whether every word must match; otherwise at least one.</param>
    /// <param name="position">The terms' position in the query's text, for errors.</param>
    /// <exception cref="QueryException">There are too many words.</exception>
    public static SearchQuery Parse(Analyzer analyzer, string terms, bool needsAll, int position)
    {
        var builder = new SearchQueryBuilder(analyzer, position);
        var word = new StringBuilder();
        for (int at = 0; at < terms.Length; )
        {
            if (char.IsWhiteSpace(terms[at]))
            {
                at++;
            }
            else if (terms[at] is '"')
            {
                at = ReadPhrase(terms, at + 1, word);
                builder.AddText(word.ToString(), slop: 0);
            }
            else
            {
                at = ReadWord(terms, at, word, out bool isPattern);
                if (isPattern)
                {
                    builder.AddPattern(word.ToString());
                }
                else
                {
                    builder.AddText(word.ToString(), slop: 0);
                }
            }
        }

        return builder.Build(needsAll);
    }

    /// <summary>
    /// Parses and analyzes the terms of <c>proximity(search(field, terms), distance)</c>. All words form one phrase.
    /// </summary>
    /// <param name="analyzer">The analyzer of the field.</param>
    /// <param name="terms">The words.</param>
    /// <param name="distance">Maximum distance of a word from its place in the phrase, in words.</param>
    /// <param name="position">The terms' position in the query's text, for errors.</param>
    /// <exception cref="QueryException">There are too many words or only one, they contain a star, or the distance is
    /// out of range.</exception>
    public static SearchQuery ParseProximity(Analyzer analyzer, string terms, long distance, int position)
    {
        if (distance is < 0 or > LuceneParser.MaxSlop)
        {
            throw new QueryException(
                QueryFault.Invalid,
                $"A proximity is 0 to {LuceneParser.MaxSlop} words, not {distance}.",
                position
            );
        }

        if (terms.Contains('*', StringComparison.Ordinal))
        {
            throw new QueryException(
                QueryFault.Invalid,
                "Proximity search works only on simple string terms, not wildcard terms: leave the * out.",
                position
            );
        }

        var builder = new SearchQueryBuilder(analyzer, position);
        builder.AddText(terms.Replace('"', ' '), (int)distance);
        var query = builder.Build(needsAll: true);
        bool isOneWord = terms.Split((char[]?)null, StringSplitOptions.RemoveEmptyEntries).Length < 2;
        return isOneWord && query.Clauses.All(static clause => clause is TermClause)
            ? throw new QueryException(
                QueryFault.Invalid,
                "Proximity search works only on multiple search terms, and there is one. Leave 'proximity' out.",
                position
            )
            : query;
    }

    /// <summary>
    /// Reads up to the closing quote, or to the end if there is none. Returns the position after the quote.
    /// </summary>
    private static int ReadPhrase(string terms, int at, StringBuilder phrase)
    {
        phrase.Clear();
        for (; at < terms.Length && terms[at] is not '"'; at++)
        {
            at += IsEscape(terms, at) ? 1 : 0;
            phrase.Append(terms[at]);
        }

        return at + 1;
    }

    /// <summary>
    /// Reads up to white space or a quote. Writes wildcard stars as SearchQueryBuilder.Star, so that escaped stars
    /// remain distinct.
    /// </summary>
    private static int ReadWord(string terms, int at, StringBuilder word, out bool isPattern)
    {
        word.Clear();
        isPattern = false;
        for (; at < terms.Length && terms[at] is not '"' && !char.IsWhiteSpace(terms[at]); at++)
        {
            if (IsEscape(terms, at))
            {
                at++;
                word.Append(terms[at]);
            }
            else if (terms[at] is '*')
            {
                isPattern = true;
                word.Append(SearchQueryBuilder.Star);
            }
            else
            {
                word.Append(terms[at]);
            }
        }

        return at;
    }

    private static bool IsEscape(string terms, int at) =>
        terms[at] is '\\' && at + 1 < terms.Length && terms[at + 1] is '*' or '"' or '\\';
}
