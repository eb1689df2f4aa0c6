using Rookery.Indexing.Mapping;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>Parses whole maps and reduces: queries that begin with <c>from</c>, and chains of method calls.</summary>
internal sealed class LinqQueryParser(LinqParser parser)
{
    private const string Documents = "docs";
    private const string Results = "results";

    private static readonly HashSet<string> ClausesBeforeGroups = new(StringComparer.Ordinal)
    {
        "where",
        "let",
        "orderby",
        "join",
        "from",
    };

    /// <summary>Parses a map.</summary>
    public (MapSource Input, ScriptSource Source) ParseMap()
    {
        MapSource input;
        var steps = new PipelineBuilder();
        if (parser.Cursor.TryTakeWord("from"))
        {
            string parameter = ExpectVariable();
            parser.Cursor.ExpectWord("in");
            input = ParseInput();
            steps.Begin(parameter);
            ParseMethods(steps);
            steps.Rename(parameter, parser.Cursor.Current.Position);
            ParseClauses(steps);
        }
        else
        {
            input = ParseInput();
            steps.Begin("doc");
            ParseMethods(steps);
        }

        ExpectEnd();
        return (input, steps.ToSource());
    }

    /// <summary>
    /// Parses a reduce: the function from a row to its key, and the function from a group to its row.
    /// </summary>
    public (ScriptSource Key, ScriptSource Row) ParseReduce()
    {
        var steps = new PipelineBuilder();
        ScriptSource key;
        if (parser.Cursor.TryTakeWord("from"))
        {
            string parameter = ExpectVariable();
            parser.Cursor.ExpectWord("in");
            parser.Cursor.ExpectWord(Results);
            var clause = parser.Cursor.Current;
            if (clause.Kind == TokenKind.Name && ClausesBeforeGroups.Contains(clause.Text))
            {
                throw BeforeGroupsError(clause);
            }

            parser.Cursor.ExpectWord("group");
            var element = parser.Cursor.ExpectName();
            bool isWholeRow = string.Equals(element.Text, parameter, StringComparison.Ordinal);
            if (!isWholeRow || parser.Cursor.Current.Kind == TokenKind.Punctuator)
            {
                throw TokenCursor.NotSupported("groups of anything but the whole row", element.Position);
            }

            parser.Cursor.ExpectWord("by");
            key = ToSource(parameter, parser.Expressions.ParseExpression());
            parser.Cursor.ExpectWord("into");
            string group = ExpectVariable();
            parser.Shapes.Set(group, LinqShape.Group);
            steps.Begin(group);
            ParseClauses(steps, isReduce: true);
        }
        else
        {
            parser.Cursor.ExpectWord(Results);
            parser.Cursor.Expect(".");
            if (!parser.Cursor.Current.IsWord("GroupBy") && parser.Cursor.Ahead(1).Is("("))
            {
                throw BeforeGroupsError(parser.Cursor.Current);
            }

            parser.Cursor.ExpectWord("GroupBy");
            parser.Cursor.Expect("(");
            var selector = parser.Lambdas.ParseLambda();
            if (parser.Cursor.Current.Is(","))
            {
                throw TokenCursor.NotSupported("'GroupBy' with two arguments", parser.Cursor.Current.Position);
            }

            parser.Cursor.Expect(")");
            key = ToSource(OnlyParameterOf(selector), selector.Value!);
            // The text of an index cannot contain this name.
            steps.Begin("\0group");
            ParseGroupMethods(steps);
        }

        ExpectEnd();
        return (key, steps.ToSource());
    }

    private static ScriptException BeforeGroupsError(Token part) =>
        TokenCursor.NotSupported(
            $"{part.Quoted} before the groups of a reduce: it begins with 'results.GroupBy(…)' or "
                + "'from r in results group r by …'; filter and shape rows in the map",
            part.Position
        );

    private static ScriptSource ToSource(string parameter, Expression value) =>
        new(parameter, [new ReturnStatement(value, value.Position)]);

    /// <summary>
    /// Parses <c>docs</c>, <c>docs.Users</c>, <c>docs["Users"]</c> or <c>docs.@all_docs</c>, or counters:
    /// <c>counters</c>, <c>counters.Users</c> or <c>counters.Users.Likes</c>.
    /// </summary>
    private MapSource ParseInput()
    {
        var source = parser.Cursor.Current;
        if (source.IsWord("timeseries"))
        {
            throw TokenCursor.NotSupported("indexes of timeseries", source.Position);
        }

        if (!parser.Cursor.TryTakeWord("counters"))
        {
            parser.Cursor.ExpectWord(Documents);
            return new MapSource(ParseSourceName());
        }

        string? collection = ParseSourceName();
        return new MapSource(collection, IsOfCounters: true, collection is null ? null : ParseSourceName());
    }

    /// <summary>Parses <c>.Users</c> or <c>["Users"]</c>. Returns null if neither follows.</summary>
    private string? ParseSourceName()
    {
        if (parser.Cursor.TryTake("["))
        {
            var name =
                parser.Cursor.Current.Kind == TokenKind.Text
                    ? parser.Cursor.Take()
                    : throw parser.Cursor.Unexpected("The name of a collection in quotes");
            parser.Cursor.Expect("]");
            return name.Text;
        }

        // A name with arguments is a method.
        if (!parser.Cursor.Current.Is(".") || parser.Cursor.Ahead(2).Is("(") || parser.Cursor.Ahead(2).Is("<"))
        {
            return null;
        }

        parser.Cursor.Take();
        // Before any other name, '@' only says, as in C#, that the name is not a keyword.
        bool hasAt = parser.Cursor.TryTake("@");
        string collection = parser.Cursor.ExpectName().Text;
        return hasAt && collection is "all_docs" ? "@all_docs" : collection;
    }

    /// <summary>Parses the chain of methods after the source of a map.</summary>
    private void ParseMethods(PipelineBuilder steps)
    {
        LinqType? type = null;
        while (TryBeginMethod(out var name))
        {
            switch (name.Text)
            {
                case "Where":
                    var condition = ParseStep(type: type);
                    steps.Rename(OnlyParameterOf(condition), condition.Position);
                    steps.Filter(LinqMethods.ToCondition(condition.Value!));
                    break;
                case "Select":
                    var value = ParseStep(type: type);
                    type = parser.Shapes.Types.ResultOf(value);
                    steps.Rename(OnlyParameterOf(value), value.Position);
                    steps.Bind(steps.NewName(), value.Value!, isResult: true);
                    break;
                case "SelectMany":
                    type = ParseSelectMany(steps, type);
                    break;
                case "ToList" or "ToArray" or "AsEnumerable" or "Cast":
                    break;
                default:
                    throw TokenCursor.NotSupported($"the method '{name.Text}' of an index's source", name.Position);
            }

            EndMethod();
        }
    }

    /// <summary>Parses the chain of methods by which a reduce converts each group to one row.</summary>
    private void ParseGroupMethods(PipelineBuilder steps)
    {
        LinqShape? shape = LinqShape.Group;
        LambdaExpression? last = null;
        while (TryBeginMethod(out var name))
        {
            switch (name.Text)
            {
                case "Select":
                    shape = last is null ? shape : parser.Shapes.OfResult(last, shape);
                    last = ParseStep(shape, last is null ? null : parser.Shapes.Types.ResultOf(last));
                    steps.Rename(OnlyParameterOf(last), last.Position);
                    steps.Bind(steps.NewName(), last.Value!, isResult: true);
                    break;
                case "ToList" or "ToArray" or "AsEnumerable" or "Cast":
                    break;
                default:
                    throw OneRowCheck.PartError(name.Text, name.Position);
            }

            EndMethod();
        }

        if (last is not null)
        {
            parser.Shapes.Set(last.Parameters[0], shape);
            steps.Rebind(parser.Shapes.ToRow(last.Value!));
        }
    }

    private bool TryBeginMethod(out Token name)
    {
        name = parser.Cursor.Current;
        if (!parser.Cursor.TryTake("."))
        {
            return false;
        }

        name = parser.Cursor.ExpectName();
        parser.Types.SkipTypeArguments();
        parser.Cursor.Expect("(");
        parser.Cursor.EnterLevel();
        return true;
    }

    private void EndMethod()
    {
        parser.Cursor.LeaveLevel();
        parser.Cursor.Expect(")");
    }

    /// <summary>Parses the arguments of <c>SelectMany</c>.</summary>
    /// <returns>The type of the resulting elements; null if unknown.</returns>
    private LinqType? ParseSelectMany(PipelineBuilder steps, LinqType? type)
    {
        var source = ParseStep(type: type);
        string before = OnlyParameterOf(source);
        steps.Rename(before, source.Position);
        steps.Each(steps.NewName(), LinqMethods.ToSequence(source.Value!));
        if (!parser.Cursor.TryTake(","))
        {
            return parser.Shapes.Types.ElementOf(source.Value!);
        }

        string element = steps.Current;
        var result = ParseStep(type: type);
        if (result.Parameters is not [var outer, var inner])
        {
            throw TokenCursor.NotSupported("a function of other than two parameters here", result.Position);
        }

        steps.Bind(outer, new NameExpression(before, result.Position), isResult: false);
        steps.Bind(inner, new NameExpression(element, result.Position), isResult: false);
        steps.Bind(steps.NewName(), result.Value!, isResult: true);
        return parser.Shapes.Types.ResultOf(result);
    }

    /// <summary>Parses the lambda argument of a method.</summary>
    /// <param name="shape">The shape of its first parameter, if it is a group or contains groups; otherwise
    /// null.</param>
    /// <param name="type">The known type of its first parameter; null if unknown.</param>
    private LambdaExpression ParseStep(LinqShape? shape = null, LinqType? type = null)
    {
        int mark = parser.Cursor.Mark;
        bool isCast = parser.Types.TryParseCast(out var cast) && cast.Name is "Func" && parser.Cursor.TryTake("(");
        if (!isCast)
        {
            parser.Cursor.Reset(mark);
        }

        if (!parser.Lambdas.IsLambda())
        {
            throw parser.Cursor.Unexpected("A function, as in 'x => …',");
        }

        var (parameters, at) = parser.Lambdas.ParseLambdaHead();
        var result = parser.Lambdas.ParseWith(parameters, shape, type, at);
        if (isCast)
        {
            parser.Cursor.Expect(")");
        }

        return result;
    }

    private static string OnlyParameterOf(LambdaExpression lambda) =>
        lambda.Parameters is [var only]
            ? only
            : throw TokenCursor.NotSupported(
                $"a function of {lambda.Parameters.Count} parameters here",
                lambda.Position
            );

    /// <summary>Parses the clauses after the source, through <c>select</c>.</summary>
    /// <param name="steps">Receives the translated clauses.</param>
    /// <param name="isReduce">Whether the clauses belong to a reduce, which converts each group to one row.</param>
    /// <returns>The value of the <c>select</c>.</returns>
    private Expression ParseClauses(PipelineBuilder steps, bool isReduce = false)
    {
        while (!parser.Cursor.Current.IsWord("select"))
        {
            var clause = parser.Cursor.Current;
            if (isReduce && (clause.IsWord("where") || clause.IsWord("from")))
            {
                throw OneRowCheck.PartError(clause.Text, clause.Position);
            }

            if (parser.Cursor.TryTakeWord("where"))
            {
                steps.Filter(LinqMethods.ToCondition(parser.Expressions.ParseExpression()));
            }
            else if (parser.Cursor.TryTakeWord("let"))
            {
                string name = ExpectVariable();
                parser.Cursor.Expect("=");
                steps.Bind(name, parser.Shapes.Let(name, parser.Expressions.ParseExpression()), isResult: false);
            }
            else if (parser.Cursor.TryTakeWord("from"))
            {
                string name = ExpectVariable();
                parser.Cursor.ExpectWord("in");
                var source = parser.Shapes.ToSequence(parser.Expressions.ParseExpression());
                parser.Shapes.Types.Set(name, parser.Shapes.Types.ElementOf(source));
                steps.Each(name, LinqMethods.ToSequence(source));
            }
            else
            {
                throw IsClause(clause)
                    ? TokenCursor.NotSupported($"'{clause.Text}' here", clause.Position)
                    : parser.Cursor.Unexpected("'select'");
            }
        }

        parser.Cursor.Take();
        var result = parser.Expressions.ParseExpression();
        steps.Bind(steps.NewName(), isReduce ? parser.Shapes.ToRow(result) : result, isResult: true);
        if (parser.Cursor.Current.IsWord("into"))
        {
            throw TokenCursor.NotSupported("'into' after 'select'", parser.Cursor.Current.Position);
        }

        return result;
    }

    /// <summary>
    /// Parses a query inside an expression. Each clause becomes a loop over a sequence, or a condition in it.
    /// </summary>
    public CallExpression ParseInnerQuery()
    {
        parser.Cursor.EnterLevel();
        int at = parser.Cursor.Take().Position;
        string name = ExpectVariable();
        parser.Cursor.ExpectWord("in");
        var source = parser.Shapes.ToSequence(parser.Expressions.ParseExpression());
        parser.Shapes.Types.Set(name, parser.Shapes.Types.ElementOf(source));
        var steps = new PipelineBuilder();
        steps.Begin(name);
        var result = ParseClauses(steps);
        parser.Cursor.LeaveLevel();
        return parser.Shapes.Types.RecordElement(
            new CallExpression(
                new MemberExpression(LinqMethods.ToSequence(source), "flatMap", at),
                [
                    new LambdaExpression(
                        [name],
                        Value: null,
                        new BlockStatement(steps.ToRows(), OpensScope: true, at),
                        at
                    ),
                ],
                at
            ),
            result
        );
    }

    private string ExpectVariable()
    {
        var name = parser.Cursor.ExpectName();
        if (
            parser.Cursor.Current.Kind == TokenKind.Name
            && !parser.Cursor.Current.IsWord("in")
            && parser.Cursor.Ahead(1).IsWord("in")
        )
        {
            name = parser.Cursor.Take();
        }

        parser.Shapes.Set(name.Text, shape: null);
        return name.Text;
    }

    public void ExpectEnd()
    {
        parser.Cursor.TryTake(";");
        if (parser.Cursor.Current.Kind != TokenKind.End)
        {
            throw IsClause(parser.Cursor.Current)
                ? TokenCursor.NotSupported($"{parser.Cursor.Current.Quoted} here", parser.Cursor.Current.Position)
                : parser.Cursor.Unexpected("the end");
        }
    }

    public static bool IsClause(Token token) =>
        token.Kind == TokenKind.Name
        && token.Text
            is "from"
                or "where"
                or "let"
                or "select"
                or "group"
                or "by"
                or "into"
                or "join"
                or "orderby"
                or "on"
                or "equals"
                or "ascending"
                or "descending";
}
