using Rookery.Scripting.Syntax;

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
        if (_cursor.TryTakeWord("from"))
        {
            string parameter = ExpectVariable();
            _cursor.ExpectWord("in");
            collection = ParseCollection();
            steps.Begin(parameter);
            ParseMethods(steps);
            steps.Rename(parameter, _cursor.Current.Position);
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
        if (_cursor.TryTakeWord("from"))
        {
            string parameter = ExpectVariable();
            _cursor.ExpectWord("in");
            _cursor.ExpectWord(Results);
            _cursor.ExpectWord("group");
            var element = _cursor.ExpectName();
            if (!string.Equals(element.Text, parameter, StringComparison.Ordinal))
            {
                throw TokenCursor.NotSupported("groups of what is not the whole row", element.Position);
            }

            _cursor.ExpectWord("by");
            key = ToSource(parameter, ParseExpression());
            _cursor.ExpectWord("into");
            string group = ExpectVariable();
            _shapes.Set(group, LinqShape.Group);
            steps.Begin(group);
            ParseClauses(steps, isReduce: true);
        }
        else
        {
            _cursor.ExpectWord(Results);
            _cursor.Expect(".");
            _cursor.ExpectWord("GroupBy");
            _cursor.Expect("(");
            var selector = ParseLambda();
            if (_cursor.Current.Is(","))
            {
                throw TokenCursor.NotSupported("'GroupBy' with two arguments", _cursor.Current.Position);
            }

            _cursor.Expect(")");
            key = ToSource(Single(selector), selector.Value!);
            steps.Begin("\0group");
            ParseGroupMethods(steps);
        }

        ExpectEnd();
        return (key, steps.ToSource());
    }

    private static ScriptSource ToSource(string parameter, Expression value) =>
        new(parameter, [new ReturnStatement(value, value.Position)]);

    /// <summary>
    /// Takes <c>docs</c>, <c>docs.Users</c> or <c>docs["Users"]</c>; null where all documents are meant.
    /// </summary>
    private string? ParseCollection()
    {
        var source = _cursor.Current;
        if (source.IsWord("timeseries") || source.IsWord("counters"))
        {
            throw TokenCursor.NotSupported($"indexes of {source.Text}", source.Position);
        }

        _cursor.ExpectWord(Documents);
        if (_cursor.TryTake("["))
        {
            var name =
                _cursor.Current.Kind == TokenKind.Text
                    ? _cursor.Take()
                    : throw _cursor.Unexpected("The name of a collection in quotes");
            _cursor.Expect("]");
            return name.Text;
        }

        if (!_cursor.Current.Is(".") || _cursor.Ahead(2).Is("(") || _cursor.Ahead(2).Is("<"))
        {
            return null;
        }

        _cursor.Take();
        return _cursor.ExpectName().Text;
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
                    type = _shapes.Types.ResultOf(value);
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
                    shape = last is null ? shape : _shapes.OfResult(last, shape);
                    last = ParseStep(shape, last is null ? null : _shapes.Types.ResultOf(last));
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
            _shapes.Set(last.Parameters[0], shape);
            steps.Rebind(_shapes.ToRow(last.Value!));
        }
    }

    private bool TryBeginMethod(out Token name)
    {
        name = _cursor.Current;
        if (!_cursor.TryTake("."))
        {
            return false;
        }

        name = _cursor.ExpectName();
        SkipTypeArguments();
        _cursor.Expect("(");
        _cursor.Enter();
        return true;
    }

    private void EndMethod()
    {
        _cursor.Leave();
        _cursor.Expect(")");
    }

    /// <summary>Takes the arguments of <c>SelectMany</c>.</summary>
    /// <returns>What is known of what it yields.</returns>
    private LinqType? ParseSelectMany(PipelineBuilder steps, LinqType? type)
    {
        var source = ParseStep(type: type);
        string before = Single(source);
        steps.Rename(before, source.Position);
        steps.Each(steps.NewName(), LinqMethods.ToSequence(source.Value!));
        if (!_cursor.TryTake(","))
        {
            return _shapes.Types.ElementOf(source.Value!);
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
        return _shapes.Types.ResultOf(result);
    }

    /// <summary>Takes the function that a method is given.</summary>
    /// <param name="shape">What is known of its first parameter.</param>
    /// <param name="type">What is known of it otherwise.</param>
    private LambdaExpression ParseStep(LinqShape? shape = null, LinqType? type = null)
    {
        int mark = _cursor.Mark;
        bool isCast = TryParseCast(out var cast) && cast.Name is "Func" && _cursor.TryTake("(");
        if (!isCast)
        {
            _cursor.Reset(mark);
        }

        if (!IsLambda())
        {
            throw _cursor.Unexpected("A function, as in 'x => …',");
        }

        var (parameters, at) = ParseLambdaHead();
        var result = ParseWith(parameters, shape, type, at);
        if (isCast)
        {
            _cursor.Expect(")");
        }

        return result;
    }

    private static string Single(LambdaExpression lambda) =>
        lambda.Parameters is [var only]
            ? only
            : throw TokenCursor.NotSupported(
                $"a function of {lambda.Parameters.Count} parameters here",
                lambda.Position
            );

    /// <summary>Takes the clauses behind a source to <c>select</c>.</summary>
    /// <param name="steps">Takes what they do.</param>
    /// <param name="isReduce">Whether one row is made of each group.</param>
    private void ParseClauses(PipelineBuilder steps, bool isReduce = false)
    {
        while (!_cursor.Current.IsWord("select"))
        {
            var clause = _cursor.Current;
            if (isReduce && (clause.IsWord("where") || clause.IsWord("from")))
            {
                throw ReduceResult.Refusal(clause.Text, clause.Position);
            }

            if (_cursor.TryTakeWord("where"))
            {
                steps.Filter(LinqMethods.ToCondition(ParseExpression()));
            }
            else if (_cursor.TryTakeWord("let"))
            {
                string name = ExpectVariable();
                _cursor.Expect("=");
                steps.Bind(name, _shapes.Let(name, ParseExpression()), isResult: false);
            }
            else if (_cursor.TryTakeWord("from"))
            {
                string name = ExpectVariable();
                _cursor.ExpectWord("in");
                steps.Each(name, LinqMethods.ToSequence(_shapes.ToSequence(ParseExpression())));
            }
            else
            {
                throw IsClause(clause)
                    ? TokenCursor.NotSupported($"'{clause.Text}' here", clause.Position)
                    : _cursor.Unexpected("'select'");
            }
        }

        _cursor.Take();
        var result = ParseExpression();
        steps.Bind(steps.NewName(), isReduce ? _shapes.ToRow(result) : result, isResult: true);
        if (_cursor.Current.IsWord("into"))
        {
            throw TokenCursor.NotSupported("'into' behind 'select'", _cursor.Current.Position);
        }
    }

    /// <summary>
    /// A query inside of an expression: each of its clauses is a loop over a sequence, or a condition in it.
    /// </summary>
    private CallExpression ParseInnerQuery()
    {
        _cursor.Enter();
        int at = _cursor.Take().Position;
        string name = ExpectVariable();
        _cursor.ExpectWord("in");
        var source = _shapes.ToSequence(ParseExpression());
        var steps = new PipelineBuilder();
        steps.Begin(name);
        ParseClauses(steps);
        _cursor.Leave();
        return new CallExpression(
            new MemberExpression(LinqMethods.ToSequence(source), "flatMap", at),
            [new LambdaExpression([name], null, new BlockStatement(steps.ToRows(), OpensScope: true, at), at)],
            at
        );
    }

    private string ExpectVariable()
    {
        var name = _cursor.ExpectName();
        if (_cursor.Current.Kind == TokenKind.Name && !_cursor.Current.IsWord("in") && _cursor.Ahead(1).IsWord("in"))
        {
            name = _cursor.Take();
        }

        _shapes.Set(name.Text, null);
        return name.Text;
    }

    private void ExpectEnd()
    {
        _cursor.TryTake(";");
        if (_cursor.Current.Kind != TokenKind.End)
        {
            throw IsClause(_cursor.Current)
                ? TokenCursor.NotSupported($"{_cursor.Current.Quoted} here", _cursor.Current.Position)
                : _cursor.Unexpected("the end");
        }
    }

    private static bool IsClause(Token token) =>
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
