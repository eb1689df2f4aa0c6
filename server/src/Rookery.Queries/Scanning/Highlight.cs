using System.Globalization;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Scanning;

/// <summary>One <c>highlight(field, length, fragments, options)</c>, ready.</summary>
internal sealed class Highlight
{
    private const int LongestFragment = 4_096;
    private const int MostFragments = 256;
    private const int MostTags = 64;

    private static readonly string[] UsualBefore = ["<b style=\"background:yellow\">"];
    private static readonly string[] UsualBehind = ["</b>"];

    private readonly string[] _before;
    private readonly string[] _behind;
    private readonly WordFinder[] _finders;
    private readonly FieldReader _reader;
    private readonly int _length;
    private readonly int _most;

    /// <summary>Makes it ready.</summary>
    /// <param name="include">As it was written.</param>
    /// <param name="fields">Says where fields stand.</param>
    /// <param name="operands">Parameters filled in.</param>
    /// <param name="condition">Whose words are marked.</param>
    /// <exception cref="QueryException">It is wrong.</exception>
    public Highlight(IncludeClause include, FieldResolver fields, OperandValues operands, Predicate condition)
    {
        Field = include.Path!;
        _reader = fields.Reader(
            new PathReference(
                new FieldPath(
                    [
                        .. Field
                            .Split('.')
                            .Select(static name => new PathStep(
                                name.Replace("[]", "", StringComparison.Ordinal),
                                false
                            )),
                    ],
                    include.Position
                )
            )
        );
        _length = Number(include.Arguments[0], operands, LongestFragment);
        _most = Number(include.Arguments[1], operands, MostFragments);
        var options = new ClauseOptions(include.Arguments is [_, _, var given] ? given : null, "highlight", operands);
        _before = options.Texts("PreTags") is { Length: > 0 and <= MostTags } written ? written : UsualBefore;
        _behind = options.Texts("PostTags") is { Length: > 0 and <= MostTags } ends ? ends : UsualBehind;
        GroupKey = options.Text("GroupKey") is { Length: > 0 } key ? key : null;
        options.RefuseOthers();
        _finders =
        [
            .. SearchesOf(condition)
                .Where(one => one.Reader.Names.SequenceEqual(_reader.Names, StringComparer.Ordinal))
                .Select(static one => new WordFinder(one.Query)),
        ];
    }

    /// <summary>The field, as the answer names it.</summary>
    public string Field { get; }

    /// <summary>The field whose value names a result in the answer; null where its id does.</summary>
    public string? GroupKey { get; }

    /// <summary>Cuts pieces out of the texts of a result.</summary>
    /// <param name="document">The result.</param>
    /// <param name="room">Room for texts.</param>
    /// <param name="work">Of the answer.</param>
    /// <param name="pieces">Takes them.</param>
    public void Cut(in QueriedDocument document, SearchableText room, ScanWork work, List<string> pieces)
    {
        work.Walk(document.Members.Length);
        var visitor = new Visitor(this, room, work, pieces);
        _reader.Read(document, ref visitor);
    }

    private static int Number(Operand operand, OperandValues operands, int most)
    {
        long number = operands.Count(operand, "highlight") ?? 0;
        return number is > 0 && number <= most
            ? (int)number
            : throw new QueryException(
                QueryFault.Invalid,
                string.Create(CultureInfo.InvariantCulture, $"'highlight' takes a number from 1 to {most} here."),
                operand.Position
            );
    }

    /// <summary>What is looked for; what must not be there is marked nowhere.</summary>
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

    private readonly struct Visitor(Highlight highlight, SearchableText room, ScanWork work, List<string> pieces)
        : IValueVisitor
    {
        public bool Visit(scoped ReadOnlySpan<byte> json)
        {
            var text = room.Of(json);
            var found = new List<FoundWord>();
            foreach (var finder in highlight._finders)
            {
                work.Walk(text.Length);
                finder.Find(text, found, work);
            }

            pieces.AddRange(
                HighlightedText.Cut(
                    text,
                    found,
                    highlight._length,
                    highlight._most - pieces.Count,
                    highlight._before,
                    highlight._behind
                )
            );
            return pieces.Count < highlight._most;
        }
    }
}
