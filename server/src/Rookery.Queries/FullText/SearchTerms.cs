using System.Text;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>
/// The little language of <c>search(field, 'a b* "a phrase" *c*')</c>: words apart by white space, phrases in quotes,
/// <c>*</c> for anything within a token, <c>\</c> before a star, a quote or itself to mean the character. A word that
/// the analyzer takes apart is a phrase; one of which it leaves nothing (a stop word, a dash) is not asked for.
/// </summary>
public static class SearchTerms
{
    /// <summary>What a search may hold in all: tokens and patterns.</summary>
    public const int MostTerms = 1024;

    /// <summary>Patterns a search may hold: each is compared with every token of a scan or dictionary.</summary>
    public const int MostWildcards = 64;

    /// <summary>Tokens of a phrase.</summary>
    public const int MostWordsOfPhrase = 64;

    /// <summary>Reads and analyzes what is searched for.</summary>
    /// <param name="analyzer">The field's.</param>
    /// <param name="terms">The words.</param>
    /// <param name="needsAll">Whether each must be found; one of them otherwise.</param>
    /// <param name="position">Where they stand in the query, for errors.</param>
    /// <exception cref="QueryException">There are too many.</exception>
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
    /// Reads and analyzes what is searched for by <c>proximity(search(field, terms), distance)</c>: all words as one
    /// phrase.
    /// </summary>
    /// <param name="analyzer">The field's.</param>
    /// <param name="terms">The words.</param>
    /// <param name="distance">How far they may be from their places in it, in words.</param>
    /// <param name="position">Where they stand in the query, for errors.</param>
    /// <exception cref="QueryException">There are too many, they hold a star, or the distance is out of
    /// bounds.</exception>
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
                "A proximity is between whole words: there can be no * in them.",
                position
            );
        }

        var builder = new SearchQueryBuilder(analyzer, position);
        builder.AddText(terms.Replace('"', ' '), (int)distance);
        return builder.Build(needsAll: true);
    }

    /// <summary>Reads up to the closing quote, or to the end when there is none.</summary>
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
    /// Reads up to white space or a quote. Stars that mean themselves are kept apart from those that do not by the
    /// character that no text holds.
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
