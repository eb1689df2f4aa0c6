using System.Globalization;
using System.Text;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;

namespace Rookery.Queries.Scanning;

/// <summary>Explains in lines of text how the score of a document is computed. Not thread-safe.</summary>
/// <param name="work">The answer's limits.</param>
internal sealed class ScoreExplanation(ScanWork work)
{
    private readonly StringBuilder _text = new();

    /// <summary>Returns the explanation for a document that matches a condition.</summary>
    public string Of(Predicate condition, in QueriedDocument document)
    {
        _text.Clear();
        Add(condition, document, depth: 0);
        return _text.ToString().TrimEnd();
    }

    private void Add(Predicate condition, in QueriedDocument document, int depth)
    {
        if (!condition.TryScore(document, work, out double score))
        {
            return;
        }

        switch (condition)
        {
            case AndPredicate and:
                Line(depth, score, "the sum of");
                AddAll(and.Inner, document, depth + 1);
                break;
            case OrPredicate or:
                Line(depth, score, "the sum of those that match of");
                AddAll(or.Inner, document, depth + 1);
                break;
            case BoostPredicate boost:
                Line(depth, score, string.Create(CultureInfo.InvariantCulture, $"{boost.Factor} times"));
                Add(boost.Inner, document, depth + 1);
                break;
            case OptionalPredicate optional:
                Line(depth, score, "optional");
                Add(optional.Inner, document, depth + 1);
                break;
            case FullTextPredicate { Condition: SearchedField searched }:
                Line(depth, score, $"words of '{NameOf(searched.Reader)}'");
                foreach (var (added, why) in searched.Explain(document, work))
                {
                    Line(depth + 1, added, why);
                }

                break;
            default:
                Line(depth, score, Describe(condition));
                break;
        }
    }

    private void AddAll(ReadOnlySpan<Predicate> conditions, in QueriedDocument document, int depth)
    {
        foreach (var condition in conditions)
        {
            Add(condition, document, depth);
        }
    }

    private void Line(int depth, double score, string description) =>
        _text
            .Append(' ', 2 * depth)
            .Append(score.ToString("0.######", CultureInfo.InvariantCulture))
            .Append(" = ")
            .Append(description)
            .Append('\n');

    private static string Describe(Predicate condition) =>
        condition switch
        {
            NotPredicate => "a 'not', which adds nothing",
            TermsPredicate one => $"'{NameOf(one.Reader)}' has a wanted value",
            AllTermsPredicate all => $"'{NameOf(all.Reader)}' has all wanted values",
            RangePredicate range => $"'{NameOf(range.Reader)}' has a value in the range",
            ExistsPredicate exists => $"'{NameOf(exists.Reader)}' exists",
            TextPredicate text => $"'{NameOf(text.Reader)}' has a matching text",
            FullTextPredicate { Condition: FuzzyField fuzzy } => $"'{NameOf(fuzzy.Reader)}' has a similar text",
            FullTextPredicate => "words that it shares with the given document",
            _ => "every document",
        };

    private static string NameOf(FieldReader reader) =>
        reader.IsMetadata && reader.Names is [_, "@id"] ? "id()" : string.Join('.', reader.Names);
}
