using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Builds the statements of a script from the clauses of a query or a chain of methods: nested loops and conditions, of
/// which the innermost returns or adds the result.
/// </summary>
internal sealed class PipelineBuilder
{
    private const string Rows = "\0rows";

    private readonly List<Step> _steps = [];
    private string _parameter = "";
    private int _generatedNames;

    /// <summary>The variable that holds the current element.</summary>
    public string Current { get; private set; } = "";

    /// <summary>Sets the parameter of the script.</summary>
    public void Begin(string name) => _parameter = Current = name;

    /// <summary>Returns a name that cannot occur in an index text.</summary>
    public string NewName() => $"\0{++_generatedNames}";

    /// <summary>Adds a condition: the following steps run only if it holds.</summary>
    public void Filter(Expression condition) => _steps.Add(new Step(Name: null, condition, IsLoop: false));

    /// <summary>Declares a variable.</summary>
    /// <param name="name">The name.</param>
    /// <param name="value">The value.</param>
    /// <param name="isResult">Whether the variable becomes the current element.</param>
    public void Bind(string name, Expression value, bool isResult)
    {
        _steps.Add(new Step(name, value, IsLoop: false));
        Current = isResult ? name : Current;
    }

    /// <summary>Replaces the value of the last step.</summary>
    public void Rebind(Expression value) => _steps[^1] = _steps[^1] with { Value = value };

    /// <summary>Adds a loop: the following steps run for each element of a sequence.</summary>
    public void Each(string name, Expression sequence)
    {
        _steps.Add(new Step(name, sequence, IsLoop: true));
        Current = name;
    }

    /// <summary>Renames the current element.</summary>
    public void Rename(string name, int position)
    {
        if (!string.Equals(name, Current, StringComparison.Ordinal))
        {
            Bind(name, new NameExpression(Current, position), isResult: true);
        }
    }

    /// <summary>
    /// Builds the script. With loops, it returns an array. Without loops, it returns one value, or nothing if a
    /// condition fails.
    /// </summary>
    public ScriptSource ToSource()
    {
        var value = new NameExpression(Current, Position: 0);
        if (!_steps.Exists(static step => step.IsLoop))
        {
            return new ScriptSource(_parameter, Nest(new ReturnStatement(value, Position: 0)));
        }

        var rows = new NameExpression(Rows, Position: 0);
        var push = new CallExpression(new MemberExpression(rows, "push", Position: 0), [value], Position: 0);
        return new ScriptSource(
            _parameter,
            [
                new VariableStatement(Rows, new ArrayLiteral([], Position: 0), IsConstant: true, Position: 0),
                .. Nest(new ExpressionStatement(push, Position: 0)),
                new ReturnStatement(rows, Position: 0),
            ]
        );
    }

    /// <summary>Returns the statements of a function that returns its values as an array, even without loops.</summary>
    public IReadOnlyList<Statement> ToRows()
    {
        var source = ToSource();
        if (_steps.Exists(static step => step.IsLoop))
        {
            return source.Statements;
        }

        return
        [
            .. Nest(
                new ReturnStatement(
                    new ArrayLiteral([new NameExpression(Current, Position: 0)], Position: 0),
                    Position: 0
                )
            ),
            new ReturnStatement(new ArrayLiteral([], Position: 0), Position: 0),
        ];
    }

    private IReadOnlyList<Statement> Nest(Statement innermost)
    {
        IReadOnlyList<Statement> inside = [innermost];
        for (int i = _steps.Count - 1; i >= 0; i--)
        {
            var (name, value, isLoop) = _steps[i];
            int at = value.Position;
            Statement outer;
            if (name is null)
            {
                outer = new IfStatement(value, new BlockStatement(inside, OpensScope: true, at), Otherwise: null, at);
            }
            else if (isLoop)
            {
                outer = new ForOfStatement(name, value, new BlockStatement(inside, OpensScope: true, at), at);
            }
            else
            {
                var variable = new VariableStatement(name, value, IsConstant: true, at);
                outer = new BlockStatement([variable, .. inside], OpensScope: true, at);
            }

            inside = [outer];
        }

        return inside;
    }

    private readonly record struct Step(string? Name, Expression Value, bool IsLoop);
}

/// <summary>A function of one parameter, not yet compiled.</summary>
/// <param name="Parameter">The name of the parameter.</param>
/// <param name="Statements">The body of the function.</param>
internal sealed record ScriptSource(string Parameter, IReadOnlyList<Statement> Statements)
{
    /// <summary>The functions that it may call, declared before it in the text.</summary>
    public IReadOnlyList<Statement> Functions { get; init; } = [];
}
