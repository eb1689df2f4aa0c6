using Rookery.Documents.Scripting;

namespace Rookery.Indexing.Definitions;

/// <content>Whole texts: queries that begin with <c>from</c>, and calls of methods one after the other.</content>
internal sealed partial class LinqParser
{
    private const string Documents = "docs";
    private const string Results = "results";

    /// <summary>Parses the text of a map.</summary>
    public (string? Collection, ScriptSource Source) ParseMap()
    {
        string? collection;
        var steps = new PipelineBuilder();
        if (cursor.TryTakeWord("from"))
        {
            string parameter = ExpectVariable();
            cursor.ExpectWord("in");
            collection = ParseCollection();
            steps.Begin(parameter);
            ParseMethods(steps);
            steps.Rename(parameter, cursor.Current.Position);
            ParseClauses(steps);
        }
        else
        {
            collection = ParseCollection();
            steps.Begin("doc");
            ParseMethods(steps);
        }

        ExpectEnd();
        return (collection, steps.ToSource());
    }

    /// <summary>Parses the text of a reduce: the key of a row, and the row of a group.</summary>
    public (ScriptSource Key, ScriptSource Row) ParseReduce()
    {
        var steps = new PipelineBuilder();
        ScriptSource key;
        if (cursor.TryTakeWord("from"))
        {
            string parameter = ExpectVariable();
            cursor.ExpectWord("in");
            cursor.ExpectWord(Results);
            cursor.ExpectWord("group");
            var element = cursor.ExpectName();
            if (!string.Equals(element.Text, parameter, StringComparison.Ordinal))
            {
                throw TokenCursor.NotSupported("groups of what is not the whole row", element.Position);
            }

            cursor.ExpectWord("by");
            key = ToSource(parameter, ParseExpression());
            cursor.ExpectWord("into");
            string group = ExpectVariable();
            shapes.Set(group, LinqShape.Group);
            steps.Begin(group);
            ParseClauses(steps, isReduce: true);
        }
        else
        {
            cursor.ExpectWord(Results);
            cursor.Expect(".");
            cursor.ExpectWord("GroupBy");
            cursor.Expect("(");
            var selector = ParseLambda();
            if (cursor.Current.Is(","))
            {
                throw TokenCursor.NotSupported("'GroupBy' with two arguments", cursor.Current.Position);
            }

            cursor.Expect(")");
            key = ToSource(Single(selector), selector.Value!);
            steps.Begin("\0group");
            ParseGroupMethods(steps);
        }

        ExpectEnd();
        return (key, steps.ToSource());
    }

    private static ScriptSource ToSource(string parameter, Expression value) => new(parameter, [new ReturnStatement(value, value.Position)]);

    /// <summary>Takes <c>docs</c>, <c>docs.Users</c> or <c>docs["Users"]</c>; null where all documents are meant.</summary>
    private string? ParseCollection()
    {
        var source = cursor.Current;
        if (source.IsWord("timeseries") || source.IsWord("counters"))
        {
            throw TokenCursor.NotSupported($"indexes of {source.Text}", source.Position);
        }

        cursor.ExpectWord(Documents);
        if (cursor.TryTake("["))
        {
            var name = cursor.Current.Kind == TokenKind.Text ? cursor.Take() : throw cursor.Unexpected("The name of a collection in quotes");
            cursor.Expect("]");
            return name.Text;
        }

        if (!cursor.Current.Is(".") || cursor.Ahead(2).Is("(") || cursor.Ahead(2).Is("<"))
        {
            return null;
        }

        cursor.Take();
        return cursor.ExpectName().Text;
    }

    /// <summary>Takes the methods behind a source, each of which goes on with what the one before yields.</summary>
    private void ParseMethods(PipelineBuilder steps)
    {
        LinqType? type = null;
        while (TryBeginMethod(out var name))
        {
            switch (name.Text)
            {
                case "Where":
                    var condition = ParseStep(type: type);
                    steps.Rename(Single(condition), condition.Position);
                    steps.Filter(LinqMethods.ToCondition(condition.Value!));
                    break;
                case "Select":
                    var value = ParseStep(type: type);
                    type = shapes.Types.ResultOf(value);
                    steps.Rename(Single(value), value.Position);
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

    /// <summary>Takes the methods behind the groups of a reduce, which make one row of each.</summary>
    private void ParseGroupMethods(PipelineBuilder steps)
    {
        LinqShape? shape = LinqShape.Group;
        LambdaExpression? last = null;
        while (TryBeginMethod(out var name))
        {
            switch (name.Text)
            {
                case "Select":
                    shape = last is null ? shape : shapes.OfResult(last, shape);
                    last = ParseStep(shape, last is null ? null : shapes.Types.ResultOf(last));
                    steps.Rename(Single(last), last.Position);
                    steps.Bind(steps.NewName(), last.Value!, isResult: true);
                    break;
                case "ToList" or "ToArray" or "AsEnumerable" or "Cast":
                    break;
                default:
                    throw ReduceResult.Refusal(name.Text, name.Position);
            }

            EndMethod();
        }

        if (last is not null)
        {
            shapes.Set(last.Parameters[0], shape);
            steps.Rebind(shapes.ToRow(last.Value!));
        }
    }

    private bool TryBeginMethod(out Token name)
    {
        name = cursor.Current;
        if (!cursor.TryTake("."))
        {
            return false;
        }

        name = cursor.ExpectName();
        SkipTypeArguments();
        cursor.Expect("(");
        cursor.Enter();
        return true;
    }

    private void EndMethod()
    {
        cursor.Leave();
        cursor.Expect(")");
    }

    /// <summary>Takes the arguments of <c>SelectMany</c>.</summary>
    /// <returns>What is known of what it yields.</returns>
    private LinqType? ParseSelectMany(PipelineBuilder steps, LinqType? type)
    {
        var source = ParseStep(type: type);
        string before = Single(source);
        steps.Rename(before, source.Position);
        steps.Each(steps.NewName(), LinqMethods.ToSequence(source.Value!));
        if (!cursor.TryTake(","))
        {
            return shapes.Types.ElementOf(source.Value!);
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
        return shapes.Types.ResultOf(result);
    }

    /// <summary>Takes the function that a method is given.</summary>
    /// <param name="shape">What is known of its first parameter.</param>
    /// <param name="type">What is known of it otherwise.</param>
    private LambdaExpression ParseStep(LinqShape? shape = null, LinqType? type = null)
    {
        int mark = cursor.Mark;
        bool isCast = TryParseCast(out var cast) && cast.Name is "Func" && cursor.TryTake("(");
        if (!isCast)
        {
            cursor.Reset(mark);
        }

        if (!IsLambda())
        {
            throw cursor.Unexpected("A function, as in 'x => …',");
        }

        var (parameters, at) = ParseLambdaHead();
        var result = ParseWith(parameters, shape, type, at);
        if (isCast)
        {
            cursor.Expect(")");
        }

        return result;
    }

    private static string Single(LambdaExpression lambda) =>
        lambda.Parameters is [var only] ? only : throw TokenCursor.NotSupported($"a function of {lambda.Parameters.Count} parameters here", lambda.Position);

    /// <summary>Takes the clauses behind a source to <c>select</c>.</summary>
    /// <param name="steps">Takes what they do.</param>
    /// <param name="isReduce">Whether one row is made of each group.</param>
    private void ParseClauses(PipelineBuilder steps, bool isReduce = false)
    {
        while (!cursor.Current.IsWord("select"))
        {
            var clause = cursor.Current;
            if (isReduce && (clause.IsWord("where") || clause.IsWord("from")))
            {
                throw ReduceResult.Refusal(clause.Text, clause.Position);
            }

            if (cursor.TryTakeWord("where"))
            {
                steps.Filter(LinqMethods.ToCondition(ParseExpression()));
            }
            else if (cursor.TryTakeWord("let"))
            {
                string name = ExpectVariable();
                cursor.Expect("=");
                steps.Bind(name, shapes.Let(name, ParseExpression()), isResult: false);
            }
            else if (cursor.TryTakeWord("from"))
            {
                string name = ExpectVariable();
                cursor.ExpectWord("in");
                steps.Each(name, LinqMethods.ToSequence(shapes.ToSequence(ParseExpression())));
            }
            else
            {
                throw IsClause(clause) ? TokenCursor.NotSupported($"'{clause.Text}' here", clause.Position) : cursor.Unexpected("'select'");
            }
        }

        cursor.Take();
        var result = ParseExpression();
        steps.Bind(steps.NewName(), isReduce ? shapes.ToRow(result) : result, isResult: true);
        if (cursor.Current.IsWord("into"))
        {
            throw TokenCursor.NotSupported("'into' behind 'select'", cursor.Current.Position);
        }
    }

    /// <summary>A query inside of an expression: each of its clauses is a loop over a sequence, or a condition in it.</summary>
    private CallExpression ParseInnerQuery()
    {
        cursor.Enter();
        int at = cursor.Take().Position;
        string name = ExpectVariable();
        cursor.ExpectWord("in");
        var source = shapes.ToSequence(ParseExpression());
        var steps = new PipelineBuilder();
        steps.Begin(name);
        ParseClauses(steps);
        cursor.Leave();
        return new CallExpression(new MemberExpression(LinqMethods.ToSequence(source), "flatMap", at), [new LambdaExpression([name], null, new BlockStatement(steps.ToRows(), OpensScope: true, at), at)], at);
    }

    private string ExpectVariable()
    {
        var name = cursor.ExpectName();
        if (cursor.Current.Kind == TokenKind.Name && !cursor.Current.IsWord("in") && cursor.Ahead(1).IsWord("in"))
        {
            name = cursor.Take();
        }

        shapes.Set(name.Text, null);
        return name.Text;
    }

    private void ExpectEnd()
    {
        cursor.TryTake(";");
        if (cursor.Current.Kind != TokenKind.End)
        {
            throw IsClause(cursor.Current) ? TokenCursor.NotSupported($"{cursor.Current.Quoted} here", cursor.Current.Position) : cursor.Unexpected("the end");
        }
    }

    private static bool IsClause(Token token) =>
        token.Kind == TokenKind.Name && token.Text is "from" or "where" or "let" or "select" or "group" or "by" or "into" or "join" or "orderby" or "on" or "equals" or "ascending" or "descending";
}
