using System.Globalization;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Scanning;

/// <summary>One compiled <c>highlight(field, length, fragments, options)</c>.</summary>
internal sealed class Highlight
{
    private const int MaxFragment = 4_096;
    private const int MaxFragments = 256;
    private const int MaxTags = 64;

    private static readonly string[] DefaultPreTags = ["<b style=\"background:yellow\">"];
    private static readonly string[] DefaultPostTags = ["</b>"];

    private readonly string[] _before;
    private readonly string[] _after;
    private readonly WordFinder[] _finders;
    private readonly FieldReader _reader;
    private readonly int _length;
    private readonly int _maxFragments;

    /// <summary>Compiles a clause.</summary>
    /// <param name="include">The clause.</param>
    /// <param name="fields">Resolves fields.</param>
    /// <param name="operands">Resolves parameters.</param>
    /// <param name="condition">The condition whose searched words are marked.</param>
    /// <exception cref="QueryException">The clause is invalid.</exception>
    public Highlight(IncludeClause include, FieldResolver fields, OperandValues operands, Predicate condition)
    {
        Field = include.Path!;
        _reader = fields.CreateReader(
            new PathReference(
                new FieldPath(
                    [
                        .. Field
                            .Split('.')
                            .Select(static name => new PathStep(
                                name.Replace("[]", "", StringComparison.Ordinal),
                                IsEach: false
                            )),
                    ],
                    include.Position
                )
            )
        );
        _length = Number(include.Arguments[0], operands, MaxFragment);
        _maxFragments = Number(include.Arguments[1], operands, MaxFragments);
        var options = new ClauseOptions(
            include.Arguments is [_, _, var argument] ? argument : null,
            "highlight",
            operands
        );
        _before = options.ReadTexts("PreTags", MaxTags) is { Length: > 0 } preTags ? preTags : DefaultPreTags;
        _after = options.ReadTexts("PostTags", MaxTags) is { Length: > 0 } postTags ? postTags : DefaultPostTags;
        GroupKey = options.ReadText("GroupKey") is { Length: > 0 } key ? key : null;
        options.RefuseUnread();
        _finders =
        [
            .. SearchesOf(condition)
                .Where(one => one.Reader.Names.SequenceEqual(_reader.Names, StringComparer.Ordinal))
                .Select(static one => new WordFinder(one.Query)),
        ];
    }

    /// <summary>The field's name in the answer.</summary>
    public string Field { get; }

    /// <summary>The field whose value names a result in the answer; null to use the document's id.</summary>
    public string? GroupKey { get; }

    /// <summary>Finds the fragments of the texts of a result.</summary>
    /// <param name="document">The result.</param>
    /// <param name="buffer">Buffer for a text.</param>
    /// <param name="work">The answer's limits.</param>
    /// <param name="pieces">Receives the fragments.</param>
    public void FindFragments(in QueriedDocument document, SearchableText buffer, ScanWork work, List<string> pieces)
    {
        work.CountBytes(document.Members.Length);
        var visitor = new Visitor(this, buffer, work, pieces);
        _reader.Read(document, ref visitor);
    }

    private static int Number(Operand operand, OperandValues operands, int max)
    {
        long number = operands.ReadCount(operand, "highlight") ?? 0;
        return number is > 0 && number <= max
            ? (int)number
            : throw new QueryException(
                QueryFault.Invalid,
                string.Create(CultureInfo.InvariantCulture, $"'highlight' takes a number from 1 to {max} here."),
                operand.Position
            );
    }

    /// <summary>
    /// Returns the full-text searches of a condition, except negated ones, whose words are not marked.
    /// </summary>
    private static IEnumerable<SearchedField> SearchesOf(Predicate condition) =>
        condition switch
        {
            AndPredicate and => and.Inner.ToArray().SelectMany(SearchesOf),
            OrPredicate or => or.Inner.ToArray().SelectMany(SearchesOf),
            BoostPredicate boost => SearchesOf(boost.Inner),
            OptionalPredicate optional => SearchesOf(optional.Inner),
            FullTextPredicate { Condition: SearchedField searched } => [searched],
            _ => [],
        };

    private readonly struct Visitor(Highlight highlight, SearchableText buffer, ScanWork work, List<string> pieces)
        : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            var text = buffer.Of(json);
            var foundWords = new List<FoundWord>();
            foreach (var finder in highlight._finders)
            {
                work.CountBytes(text.Length);
                finder.Find(text, foundWords, work);
            }

            pieces.AddRange(
                HighlightedText.FindFragments(
                    text,
                    foundWords,
                    highlight._length,
                    highlight._maxFragments - pieces.Count,
                    highlight._before,
                    highlight._after
                )
            );
            return pieces.Count < highlight._maxFragments;
        }
    }
}
