using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Checks that a reduce returns exactly one row for each group. Rows are reduced page by page, and the partial results
/// are reduced again. A filter on groups would therefore drop partial results, and a count of rows would count partial
/// results instead of rows.
/// </summary>
internal sealed class OneRowCheck
{
    private readonly string _group;

    // The values assigned to each variable; null for a value that the text does not show.
    private readonly Dictionary<string, List<Expression?>> _variables = new(StringComparer.Ordinal);
    private readonly HashSet<string> _visited = new(StringComparer.Ordinal);

    private readonly List<NameExpression> _names = [];
    private readonly HashSet<AssignmentExpression> _recorded = new(ReferenceEqualityComparer.Instance);

    // Number of enclosing statements, such as conditions, that may skip the current statement.
    private int _conditions;

    // Depth of the value being checked below the returned value, through nested expressions and variables.
    private int _depth;

    private OneRowCheck(string group) => _group = group;

    /// <summary>
    /// Returns the error for a clause or method that would return no row or several rows for a group.
    /// </summary>
    public static ScriptException PartError(string part, int position) =>
        TokenCursor.NotSupported(
            $"'{part}' after the groups of a reduce: a reduce returns one row of each group, because its "
                + $"rows are reduced again; leave rows out with 'where' in the query",
            position
        );

    /// <summary>Returns the error for a method that would count the rows that a reduce receives.</summary>
    public static ScriptException CountError(string method, int position) =>
        new(
            ScriptFault.Syntax,
            $"'{method}' of a group counts each partial result as one: give each row of the map 'count = 1' and "
                + (
                    method is "Average"
                        ? "divide the sum of the values by the sum of 'count'"
                        : "take the sum of 'count'"
                ),
            position
        );

    /// <summary>Checks a reduce.</summary>
    /// <param name="row">The function from a group to its row.</param>
    /// <exception cref="ScriptException">The reduce may return no row, or several.</exception>
    public static void Require(ScriptSource row)
    {
        var check = new OneRowCheck(row.Parameter);
        var returned = new List<Expression>();
        check._names.AddRange(Statement.AllExpressions(row.Statements).OfType<NameExpression>());
        bool returns = check.Collect(row.Statements, returned);
        check.RecordAssignmentsInside(row.Statements);
        foreach (var value in returned)
        {
            check.RequireObject(value);
        }

        if (!returns)
        {
            throw NotOneRowError(returned.Count > 0 ? returned[^1].Position : 0);
        }
    }

    private static ScriptException NotOneRowError(int position) =>
        TokenCursor.NotSupported(
            "a reduce that may return nothing or several rows: it returns one object of each group, because "
                + "its rows are reduced again; leave rows out with 'where' in the query",
            position
        );

    /// <summary>Records the values of variables and the returned values.</summary>
    /// <returns>Whether every path through the statements returns.</returns>
    private bool Collect(IReadOnlyList<Statement> statements, List<Expression> returned)
    {
        bool returns = false;
        foreach (var statement in statements)
        {
            returns |= Collect(statement, returned);
        }

        return returns;
    }

    private bool Collect(Statement statement, List<Expression> returned)
    {
        switch (statement)
        {
            case VariableStatement variable:
                Record(variable.Name, variable.Value);
                if (variable.IsVar && (_conditions > 0 || IsReadBefore(variable)))
                {
                    // The function may read the variable before this assignment: its scope is the whole function.
                    Record(variable.Name, value: null);
                }

                return false;
            case ExpressionStatement { Expression: AssignmentExpression { Target: NameExpression name } assignment }:
                Record(name.Name, assignment.Operator is null ? assignment.Value : null);
                _recorded.Add(assignment);
                return false;
            case ExpressionStatement { Expression: SequenceExpression sequence }:
                foreach (var part in sequence.Parts)
                {
                    Collect(new ExpressionStatement(part, part.Position), returned);
                }

                return false;
            case BlockStatement block:
                return Collect(block.Statements, returned);
            case IfStatement choice:
                _conditions++;
                bool then = Collect(choice.Then, returned);
                bool otherwise = choice.Otherwise is { } other && Collect(other, returned);
                _conditions--;
                return then && otherwise;
            case ForOfStatement loop:
                Record(loop.Name, value: null);
                goto default;
            case ForStatement { Step: { } step }:
                Collect(new ExpressionStatement(step, step.Position), returned);
                goto default;
            case ReturnStatement { Value: { } value }:
                returned.Add(value);
                return true;
            case ReturnStatement:
                throw NotOneRowError(statement.Position);
            case ThrowStatement:
                // The group gets an error instead of a row.
                return true;
            default:
                // A loop or 'switch' may run none of its statements.
                _conditions++;
                foreach (var inner in statement.Inner)
                {
                    Collect(inner, returned);
                }

                _conditions--;
                return false;
        }
    }

    /// <summary>Returns whether the text has the name of a variable before its declaration.</summary>
    private bool IsReadBefore(VariableStatement variable) =>
        _names.Exists(name =>
            name.Position < variable.Position && string.Equals(name.Name, variable.Name, StringComparison.Ordinal)
        );

    /// <summary>Records assignments inside of other expressions, such as <c>while ((row = null))</c>.</summary>
    private void RecordAssignmentsInside(IReadOnlyList<Statement> statements)
    {
        foreach (var expression in Statement.AllExpressions(statements))
        {
            if (
                expression is AssignmentExpression { Target: NameExpression name } assignment
                && !_recorded.Contains(assignment)
            )
            {
                Record(name.Name, value: null);
            }
        }
    }

    private void Record(string variable, Expression? value)
    {
        if (!_variables.TryGetValue(variable, out var assigned))
        {
            _variables.Add(variable, assigned = []);
        }

        assigned.Add(value);
    }

    /// <summary>Requires that a returned value is an object on every path that computes it.</summary>
    private void RequireObject(Expression value)
    {
        SyntaxDepth.Require(++_depth, value.Position);
        RequireObjectOnEachPath(value);
        _depth--;
    }

    private void RequireObjectOnEachPath(Expression value)
    {
        switch (value)
        {
            case ObjectLiteral:
                break;
            case ConditionalExpression choice:
                RequireObject(choice.Then);
                RequireObject(choice.Otherwise);
                break;
            case NameExpression name when _variables.TryGetValue(name.Name, out var assigned):
                if (_visited.Add(name.Name))
                {
                    assigned.ForEach(known => RequireObject(known ?? throw NotOneRowError(value.Position)));
                }

                break;

            // First, Last or Single (or …OrDefault) of rows computed from the group, which has at least one row.
            case InvokeExpression
            {
                Function: >= ScriptFunction.FirstOf and <= ScriptFunction.OnlyOrNothing,
                Arguments: [
                    CallExpression
                    {
                        Callee: MemberExpression { Name: "map", Target: var rows },
                        Arguments: [LambdaExpression { Value: { } row }]
                    },
                ]
            } when IsRows(rows):
                RequireObject(row);
                break;
            default:
                throw NotOneRowError(value.Position);
        }
    }

    /// <summary>Returns whether a value is all rows of the group.</summary>
    private bool IsRows(Expression value) =>
        value is MemberExpression { Name: "values", Target: NameExpression { Name: var name } }
        && (
            string.Equals(name, _group, StringComparison.Ordinal)
            || (
                _variables.TryGetValue(name, out var assigned)
                && assigned is [NameExpression { Name: var other }]
                && string.Equals(other, _group, StringComparison.Ordinal)
            )
        );
}
