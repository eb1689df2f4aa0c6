using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Puts the clauses of a query, or the methods that are called one after the other, into statements: loops in loops,
/// whose innermost statement yields.
/// </summary>
internal sealed class PipelineBuilder
{
    private const string Rows = "\0rows";

    private readonly List<Step> _steps = [];
    private string _parameter = "";
    private int _names;

    /// <summary>The variable that holds what the last step yielded.</summary>
    public string Current { get; private set; } = "";

    /// <summary>Names the script's parameter.</summary>
    public void Begin(string name) => _parameter = Current = name;

    /// <summary>A name that no text has.</summary>
    public string NewName() => $"\0{++_names}";

    /// <summary>Goes on only where a condition holds.</summary>
    public void Filter(Expression condition) => _steps.Add(new Step(null, condition, IsLoop: false));

    /// <summary>Gives a value a name.</summary>
    /// <param name="name">The name.</param>
    /// <param name="value">The value.</param>
    /// <param name="isResult">Whether it is what the next step goes on with.</param>
    public void Bind(string name, Expression value, bool isResult)
    {
        _steps.Add(new Step(name, value, IsLoop: false));
        Current = isResult ? name : Current;
    }

    /// <summary>Gives what was named last another value.</summary>
    public void Rebind(Expression value) => _steps[^1] = _steps[^1] with { Value = value };

    /// <summary>Goes on with each element of a sequence.</summary>
    public void Each(string name, Expression sequence)
    {
        _steps.Add(new Step(name, sequence, IsLoop: true));
        Current = name;
    }

    /// <summary>Gives what the last step yielded a name.</summary>
    public void Rename(string name, int position)
    {
        if (!string.Equals(name, Current, StringComparison.Ordinal))
        {
            Bind(name, new NameExpression(Current, position), isResult: true);
        }
    }

    /// <summary>
    /// The script: it returns its one value, or an array where there are loops; nothing where a condition does not
    /// hold.
    /// </summary>
    public ScriptSource ToSource()
    {
        var value = new NameExpression(Current, 0);
        if (!_steps.Exists(static step => step.IsLoop))
        {
            return new ScriptSource(_parameter, Nest(new ReturnStatement(value, 0)));
        }

        var rows = new NameExpression(Rows, 0);
        var push = new CallExpression(new MemberExpression(rows, "push", 0), [value], 0);
        return new ScriptSource(
            _parameter,
            [
                new VariableStatement(Rows, new ArrayLiteral([], 0), IsConstant: true, 0),
                .. Nest(new ExpressionStatement(push, 0)),
                new ReturnStatement(rows, 0),
            ]
        );
    }

    /// <summary>The statements of a function that returns an array of its values.</summary>
    public IReadOnlyList<Statement> ToRows()
    {
        var source = ToSource();
        if (_steps.Exists(static step => step.IsLoop))
        {
            return source.Statements;
        }

        return
        [
            .. Nest(new ReturnStatement(new ArrayLiteral([new NameExpression(Current, 0)], 0), 0)),
            new ReturnStatement(new ArrayLiteral([], 0), 0),
        ];
    }

    private IReadOnlyList<Statement> Nest(Statement innermost)
    {
        IReadOnlyList<Statement> inside = [innermost];
        for (int i = _steps.Count - 1; i >= 0; i--)
        {
            var (name, value, isLoop) = _steps[i];
            int at = value.Position;
            inside =
                name is null ? [new IfStatement(value, new BlockStatement(inside, OpensScope: true, at), null, at)]
                : isLoop ? [new ForOfStatement(name, value, new BlockStatement(inside, OpensScope: true, at), at)]
                :
                [
                    new BlockStatement(
                        [new VariableStatement(name, value, IsConstant: true, at), .. inside],
                        OpensScope: true,
                        at
                    ),
                ];
        }

        return inside;
    }

    private readonly record struct Step(string? Name, Expression Value, bool IsLoop);
}

/// <summary>A function of one parameter, before it is compiled.</summary>
/// <param name="Parameter">Its parameter.</param>
/// <param name="Statements">What it does.</param>
internal sealed record ScriptSource(string Parameter, IReadOnlyList<Statement> Statements);
