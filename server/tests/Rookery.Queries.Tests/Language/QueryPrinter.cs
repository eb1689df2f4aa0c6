using Rookery.Queries.Language;

namespace Rookery.Queries.Tests.Language;

/// <summary>Prints the tree of a query: each part in brackets, without positions.</summary>
internal static class QueryPrinter
{
    public static string Print(Query query)
    {
        var parts = new List<string>();
        parts.AddRange(
            query.Functions.Select(function =>
                $"function {function.Name}({string.Join(' ', function.Parameters)}){{{function.Body.Text}}}"
            )
        );
        parts.Add($"{query.Source.Kind} {query.Source.Name}{Alias(query.Source.Alias)}");
        AddList(
            parts,
            "group",
            query.GroupBy,
            key => (key.IsWholeArray ? $"array({key.Path})" : key.Path.ToString()) + Alias(key.Alias)
        );
        Add(parts, "where", query.Where, Print);
        AddList(
            parts,
            "order",
            query.OrderBy,
            key =>
                $"{key.Kind}{(key.Field is { } field ? " " + Print(field) : "")}"
                + $"{(key.Seed is { } seed ? " " + Print(seed) : "")}{(key.IsDescending ? " desc" : "")}"
                + $"{(key.Nulls == NullPlace.Default ? "" : $" nulls {key.Nulls}")}"
        );
        AddList(parts, "load", query.Loads, load => $"{load.Path} as {load.Alias}{(load.IsMany ? "[]" : "")}");
        Add(parts, "filter", query.Filter, Print);
        Add(parts, "filter_limit", query.FilterLimit, Print);
        Add(parts, "select", query.Select, Print);
        Add(parts, "update", query.Update, script => $"{{{script.Text}}}");
        AddList(
            parts,
            "include",
            query.Includes,
            include => $"{include.Kind}{(include.Path is { } path ? " " + path : "")}{Arguments(include.Arguments)}"
        );
        Add(parts, "offset", query.Offset, Print);
        Add(parts, "limit", query.Limit, Print);
        return string.Join(" | ", parts);
    }

    private static void Add<T>(List<string> parts, string name, T? part, Func<T, string> print)
        where T : class
    {
        if (part is not null)
        {
            parts.Add($"{name} {print(part)}");
        }
    }

    private static void AddList<T>(List<string> parts, string name, IReadOnlyList<T> list, Func<T, string> print)
    {
        if (list.Count > 0)
        {
            parts.Add($"{name} {string.Join(", ", list.Select(print))}");
        }
    }

    private static string Alias(string? alias) => alias is null ? "" : $" as {alias}";

    private static string Arguments(IReadOnlyList<Operand> arguments) =>
        string.Concat(arguments.Select(argument => " " + Print(argument)));

    private static string Print(Condition condition) =>
        condition switch
        {
            AndCondition and => $"(and {Print(and.Conditions)})",
            OrCondition or => $"(or {Print(or.Conditions)})",
            NotCondition not => $"(not {Print(not.Inner)})",
            EveryCondition => "every",
            ComparisonCondition comparison =>
                $"({comparison.Operator} {Print(comparison.Field)} {Print(comparison.Value)})",
            BetweenCondition between => $"(between {Print(between.Field)} {Print(between.Low)} {Print(between.High)})",
            InCondition isIn => $"({(isIn.IsAll ? "allin" : "in")} {Print(isIn.Field)}{Arguments(isIn.Values)})",
            ExistsCondition exists => $"(exists {Print(exists.Field)})",
            TextCondition text => $"({text.Kind} {Print(text.Field)} {Print(text.Text)})",
            LuceneCondition lucene => $"(lucene {Print(lucene.Field)} {Print(lucene.Clause)})",
            SearchCondition search =>
                $"(search {Print(search.Field)} {Print(search.Terms)} {(search.NeedsAll ? "and" : "or")})",
            ExactCondition exact => $"(exact {Print(exact.Inner)})",
            BoostCondition boost => $"(boost {Print(boost.Inner)} {Print(boost.Factor)})",
            FuzzyCondition fuzzy => $"(fuzzy {Print(fuzzy.Inner)} {Print(fuzzy.Similarity)})",
            ProximityCondition proximity => $"(proximity {Print(proximity.Inner)} {Print(proximity.Distance)})",
            IntersectCondition intersect => $"(intersect {Print(intersect.Conditions)})",
            MoreLikeThisCondition like =>
                $"(like{Optional(like.Document)}{(like.Condition is { } inner ? " " + Print(inner) : "")}"
                    + $"{Optional(like.Options)})",
            _ => throw new InvalidOperationException(condition.ToString()),
        };

    private static string Print(IReadOnlyList<Condition> conditions) => string.Join(' ', conditions.Select(Print));

    private static string Optional(Operand? operand) => operand is null ? "" : " " + Print(operand);

    private static string Print(Operand operand) =>
        operand switch
        {
            NullOperand => "null",
            BooleanOperand boolean => boolean.Value ? "true" : "false",
            NumberOperand number => number.Text,
            TextOperand text => $"'{text.Value}'",
            ParameterOperand parameter => $"${parameter.Name}",
            _ => throw new InvalidOperationException(operand.ToString()),
        };

    private static string Print(FieldReference field) =>
        field switch
        {
            PathReference path => path.Path.ToString(),
            IdReference => "id()",
            GroupKeyReference => "key()",
            ScoreReference => "score()",
            AggregateReference aggregate => $"{aggregate.Kind}({aggregate.Path})",
            _ => throw new InvalidOperationException(field.ToString()),
        };

    private static string Print(Selection selection) =>
        selection switch
        {
            FieldSelection fields => $"{(fields.IsDistinct ? "distinct " : "")}"
                + $"[{string.Join(", ", fields.Items.Select(item => Print(item.Source) + Alias(item.Alias)))}]",
            ScriptSelection script => $"{{{script.Script.Text}}}",
            CallSelection call =>
                $"call {call.Function}({string.Join(", ", call.Arguments.Select(argument => argument.Written.Text))})",
            _ => throw new InvalidOperationException(selection.ToString()),
        };

    private static string Print(SelectedSource source) =>
        source switch
        {
            SelectedReference reference => Print(reference.Field),
            SelectedOperand operand => Print(operand.Value),
            SelectedFacet facet =>
                $"(facet{(facet.Field is { } field ? $" {field}" : "")}{Optional(facet.SetupDocument)}"
                    + $"{string.Concat(facet.Ranges.Select(range => " " + Print(range)))}"
                    + $"{string.Concat(facet.Aggregates.Select(aggregate => " " + Print(aggregate.Aggregate) + Alias(aggregate.Alias)))}"
                    + $"{Optional(facet.Options)})",
            SelectedSuggestion suggestion =>
                $"(suggest {suggestion.Field} {Print(suggestion.Term)}{Optional(suggestion.Options)})",
            _ => throw new InvalidOperationException(source.ToString()),
        };
}
