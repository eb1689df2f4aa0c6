using System.Text;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.FullText;

/// <summary>Builds a search, and enforces its limits.</summary>
/// <param name="analyzer">The analyzer of the field.</param>
/// <param name="position">The words' position in the query's text, for errors.</param>
internal sealed class SearchQueryBuilder(Analyzer analyzer, int position)
{
    /// <summary>Represents a wildcard star: a Unicode noncharacter, which does not occur in texts.</summary>
    internal const char Star = '\uFFFF';

    private readonly Dictionary<byte[], int> _termNumbers = new(BytesComparer.Instance);
    private readonly List<byte[]> _terms = [];
    private readonly List<SearchClause> _clauses = [];
    private int _tokens;
    private int _wildcards;

    /// <summary>Adds a word or a phrase.</summary>
    internal void AddText(string text, int slop)
    {
        List<PhraseTerm> words = [];
        var sink = new Sink(this, words);
        analyzer.Analyze(Encoding.UTF8.GetBytes(text), AnalysisPurpose.Search, firstPosition: 0, ref sink);
        if (words.Count is 0)
        {
            return;
        }

        int first = words[0].Offset;
        PhraseTerm[] phrase = [.. words.Select(word => word with { Offset = word.Offset - first }).Distinct()];
        _clauses.Add(phrase.Length is 1 ? new TermClause(phrase[0].Term) : new PhraseClause(phrase, slop));
    }

    /// <summary>
    /// Adds a part of a Lucene clause. Texts are analyzed. Patterns, fuzzy words and ranges are only folded as the
    /// analyzer folds words.
    /// </summary>
    internal void Add(LuceneLeaf leaf)
    {
        switch (leaf)
        {
            case LuceneText text:
                AddText(text.Text, text.Slop);
                break;
            case LucenePattern pattern:
                _clauses.Add(new WildcardClause(new WildcardToken(LucenePredicates.PatternOf(pattern.Text, Fold))));
                break;
            case LuceneSimilar similar:
                _clauses.Add(
                    new WildcardClause(
                        new SimilarToken(new FuzzyText(Fold(similar.Text), similar.Similarity, position))
                    )
                );
                break;
            case LuceneRange range:
                _clauses.Add(
                    new WildcardClause(
                        new TokenRange(
                            range.Low is null ? null : Fold(range.Low),
                            range.High is null ? null : Fold(range.High),
                            range.IsIncluded
                        )
                    )
                );
                break;
            default:
                throw new NotSupportedException(leaf.GetType().Name);
        }
    }

    /// <summary>Adds a pattern.</summary>
    /// <param name="text">The pattern, with <see cref="Star"/> for any characters.</param>
    internal void AddPattern(string text)
    {
        CountToken();
        if (++_wildcards > SearchTerms.MaxWildcards)
        {
            throw TooMany(SearchTerms.MaxWildcards, "patterns with *");
        }

        byte[][] pieces = [.. text.Split(Star).Select(Fold)];
        _clauses.Add(
            new WildcardClause(
                new StarredToken(
                    [.. pieces.Where(static piece => piece.Length > 0)],
                    pieces[0].Length is 0,
                    pieces[^1].Length is 0
                )
            )
        );
    }

    internal SearchQuery Build(bool needsAll) => new(analyzer, [.. _terms], [.. _clauses], needsAll);

    private byte[] Fold(string piece) => analyzer.Fold(Encoding.UTF8.GetBytes(piece));

    private void CountToken()
    {
        if (++_tokens > SearchTerms.MaxTerms)
        {
            throw TooMany(SearchTerms.MaxTerms, "words");
        }
    }

    private QueryException TooMany(int max, string parts) =>
        new(QueryFault.TooCostly, $"A search takes at most {max} {parts}. Use fewer.", position);

    private readonly struct Sink(SearchQueryBuilder builder, List<PhraseTerm> words) : ITokenSink
    {
        public bool Add(scoped in Token token)
        {
            builder.CountToken();
            if (words.Count == SearchTerms.MaxWordsOfPhrase)
            {
                throw builder.TooMany(SearchTerms.MaxWordsOfPhrase, "words in a phrase");
            }

            byte[] term = token.Bytes.ToArray();
            if (!builder._termNumbers.TryGetValue(term, out int number))
            {
                number = builder._terms.Count;
                builder._termNumbers.Add(term, number);
                builder._terms.Add(term);
            }

            words.Add(new PhraseTerm(number, token.Position));
            return true;
        }
    }
}
