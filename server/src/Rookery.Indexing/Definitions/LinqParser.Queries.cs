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
            groups.Add(group);
            steps.Begin(group);
            ParseClauses(steps);
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
            ParseMethods(steps, isGroup: true);
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
    private void ParseMethods(PipelineBuilder steps, bool isGroup = false)
    {
        while (cursor.TryTake("."))
        {
            var name = cursor.ExpectName();
            SkipTypeArguments();
            cursor.Expect("(");
            cursor.Enter();
            switch (name.Text)
            {
                case "Where":
                    var condition = ParseStep(isGroup);
                    steps.Rename(Single(condition), condition.Position);
                    steps.Filter(condition.Value!);
                    break;
                case "Select":
                    var value = ParseStep(isGroup);
                    steps.Rename(Single(value), value.Position);
                    steps.Bind(steps.NewName(), value.Value!, isResult: true);
                    isGroup = false;
                    break;
                case "SelectMany":
                    ParseSelectMany(steps, isGroup);
                    isGroup = false;
                    break;
                case "ToList" or "ToArray" or "AsEnumerable" or "Cast" or "OfType":
                    break;
                default:
                    throw TokenCursor.NotSupported($"the method '{name.Text}' of an index's source", name.Position);
            }

            cursor.Leave();
            cursor.Expect(")");
        }
    }

    private void ParseSelectMany(PipelineBuilder steps, bool isGroup)
    {
        var source = ParseStep(isGroup);
        string before = Single(source);
        steps.Rename(before, source.Position);
        steps.Each(steps.NewName(), source.Value!);
        if (!cursor.TryTake(","))
        {
            return;
        }

        string element = steps.Current;
        var result = ParseStep(isGroup: false);
        if (result.Parameters is not [var outer, var inner])
        {
            throw TokenCursor.NotSupported("a function of other than two parameters here", result.Position);
        }

        steps.Bind(outer, new NameExpression(before, result.Position), isResult: false);
        steps.Bind(inner, new NameExpression(element, result.Position), isResult: false);
        steps.Bind(steps.NewName(), result.Value!, isResult: true);
    }

    /// <summary>Takes the function that a method is given.</summary>
    private LambdaExpression ParseStep(bool isGroup)
    {
        int mark = cursor.Mark;
        bool isCast = TryParseCast(out var type) && type.Name is "Func" && cursor.TryTake("(");
        if (!isCast)
        {
            cursor.Reset(mark);
        }

        if (!IsLambda())
        {
            throw cursor.Unexpected("A function, as in 'x => …',");
        }

        var (parameters, at) = ParseLambdaHead();
        if (isGroup)
        {
            groups.UnionWith(parameters);
        }

        var result = new LambdaExpression(parameters, ParseExpression(), null, at);
        groups.ExceptWith(parameters);
        if (isCast)
        {
            cursor.Expect(")");
        }

        return result;
    }

    private static string Single(LambdaExpression lambda) =>
        lambda.Parameters is [var only] ? only : throw TokenCursor.NotSupported($"a function of {lambda.Parameters.Count} parameters here", lambda.Position);

    /// <summary>Takes the clauses behind a source to <c>select</c>.</summary>
    private void ParseClauses(PipelineBuilder steps)
    {
        while (!cursor.Current.IsWord("select"))
        {
            var clause = cursor.Current;
            if (cursor.TryTakeWord("where"))
            {
                steps.Filter(ParseExpression());
            }
            else if (cursor.TryTakeWord("let"))
            {
                string name = ExpectVariable();
                cursor.Expect("=");
                steps.Bind(name, ParseExpression(), isResult: false);
            }
            else if (cursor.TryTakeWord("from"))
            {
                string name = ExpectVariable();
                cursor.ExpectWord("in");
                steps.Each(name, ParseExpression());
            }
            else
            {
                throw IsClause(clause) ? TokenCursor.NotSupported($"'{clause.Text}' here", clause.Position) : cursor.Unexpected("'select'");
            }
        }

        cursor.Take();
        steps.Bind(steps.NewName(), ParseExpression(), isResult: true);
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
        var source = ParseExpression();
        var steps = new PipelineBuilder();
        steps.Begin(name);
        ParseClauses(steps);
        cursor.Leave();
        return new CallExpression(new MemberExpression(source, "flatMap", at), [new LambdaExpression([name], null, new BlockStatement(steps.ToRows(), OpensScope: true, at), at)], at);
    }

    private string ExpectVariable()
    {
        var name = cursor.ExpectName();
        if (cursor.Current.Kind == TokenKind.Name && !cursor.Current.IsWord("in") && cursor.Ahead(1).IsWord("in"))
        {
            name = cursor.Take();
        }

        groups.Remove(name.Text);
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
