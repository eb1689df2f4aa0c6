using Rookery.Scripting.Compiling;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Definitions;

/// <summary>
/// Finds the member names of the objects that a function returns. An index must know its fields before the first
/// document, so the objects must be literals in the text.
/// </summary>
internal sealed class ResultFields
{
    private readonly List<string> _names = [];
    private readonly Dictionary<string, double> _factors = new(StringComparer.Ordinal);
    private readonly HashSet<int> _boosts = [];
    private readonly Dictionary<string, List<Expression>> _values = new(StringComparer.Ordinal);

    // The values assigned to elements of arrays in variables, as by `rows[i] = {…}`.
    private readonly Dictionary<string, List<Expression>> _elements = new(StringComparer.Ordinal);
    private readonly Dictionary<string, List<AddedMember>> _setMembers = new(StringComparer.Ordinal);
    private readonly HashSet<Expression> _visited = new(ReferenceEqualityComparer.Instance);
    private int _depth;

    private ResultFields() { }

    /// <summary>The names, each once, in the order of the text.</summary>
    public IReadOnlyList<string> Names => _names;

    /// <summary>The factor by which <c>boost</c> multiplies the scores of each field; 1 without it.</summary>
    public IReadOnlyDictionary<string, double> Factors => _factors;

    /// <summary>Finds the fields of the objects that a function returns.</summary>
    /// <exception cref="ScriptException">The function returns something other than object literals, or boosts a field
    /// by two factors.</exception>
    public static ResultFields Of(IReadOnlyList<Statement> statements)
    {
        var fields = new ResultFields();
        fields.AddAll(fields.Collect(statements));
        return fields;
    }

    /// <summary>Requires that each boost of the program belongs to a field.</summary>
    /// <exception cref="ScriptException">A boost belongs to another object.</exception>
    public void RequireAllBoosts(ScriptProgram program)
    {
        foreach (int position in program.Boosts.Where(position => !_boosts.Contains(position)))
        {
            throw TokenCursor.NotSupported("a boost of anything but a field of the index", position);
        }
    }

    /// <summary>Records the values of variables.</summary>
    /// <returns>The returned expressions.</returns>
    private List<Expression> Collect(IReadOnlyList<Statement> statements)
    {
        var returned = new List<Expression>();
        foreach (var statement in statements)
        {
            Collect(statement, returned);
        }

        return returned;
    }

    private void Collect(Statement statement, List<Expression> returned)
    {
        switch (statement)
        {
            case VariableStatement { Value: { } value } variable:
                Record(variable.Name, value);
                break;
            case ExpressionStatement { Expression: AssignmentExpression { Target: NameExpression name } assignment }:
                Record(name.Name, assignment.Value);
                break;
            case ExpressionStatement { Expression: AssignmentExpression { Target: var target } assignment }:
                RecordMember(target);
                if (target is ElementExpression { Target: NameExpression array, Index: not TextLiteral })
                {
                    Record(_elements, array.Name, assignment.Value);
                }

                break;
            case ExpressionStatement { Expression: UpdateExpression { Target: var target } }:
                RecordMember(target);
                break;
            case ExpressionStatement
            {
                Expression: CallExpression
                {
                    Callee: MemberExpression { Target: NameExpression name, Name: "push" or "unshift" }
                } call
            }:
                call.Arguments.ToList().ForEach(argument => Record(name.Name, argument));
                break;
            case ExpressionStatement
            {
                Expression: CallExpression
                {
                    Callee: MemberExpression { Name: "forEach" },
                    Arguments: [LambdaExpression { Body: { } body }]
                }
            }:
                Collect(body.Statements);
                break;
            case ExpressionStatement
            {
                Expression: CallExpression
                {
                    Callee: MemberExpression { Name: "forEach" },
                    Arguments: [LambdaExpression { Value: { } value }]
                }
            }:
                Collect(new ExpressionStatement(value, value.Position), returned);
                break;
            case ExpressionStatement { Expression: SequenceExpression sequence }:
                foreach (var part in sequence.Parts)
                {
                    Collect(new ExpressionStatement(part, part.Position), returned);
                }

                break;
            case ReturnStatement { Value: { } value }:
                returned.Add(value);
                break;
            case ForOfStatement { TakesNames: false } each:
                Record(each.Name, each.Values);
                goto default;
            case ForStatement { Step: { } step } loop:
                Collect(new ExpressionStatement(step, step.Position), returned);
                goto default;
            default:
                foreach (var inner in statement.Inner)
                {
                    Collect(inner, returned);
                }

                break;
        }
    }

    private void Record(string variable, Expression value) => Record(_values, variable, value);

    private static void Record(Dictionary<string, List<Expression>> values, string variable, Expression value)
    {
        if (!values.TryGetValue(variable, out var known))
        {
            values.Add(variable, known = []);
        }

        known.Add(value);
    }

    /// <summary>Records the member that is set by <c>x.a = …</c> or <c>x['a'] = …</c>.</summary>
    private void RecordMember(Expression target)
    {
        var (owner, name) = target switch
        {
            MemberExpression { Target: NameExpression variable } member => (variable.Name, member.Name),
            ElementExpression { Target: NameExpression variable, Index: TextLiteral text } => (
                variable.Name,
                text.Text
            ),
            ElementExpression { Target: NameExpression variable } => (variable.Name, null),
            _ => (null, null),
        };
        if (owner is null)
        {
            return;
        }

        if (!_setMembers.TryGetValue(owner, out var known))
        {
            _setMembers.Add(owner, known = []);
        }

        known.Add(new AddedMember(name, target.Position));
    }

    private void AddAll(IEnumerable<Expression> results)
    {
        foreach (var result in results)
        {
            Add(result);
        }
    }

    private void Add(Expression result)
    {
        if (!_visited.Add(result))
        {
            return;
        }

        SyntaxDepth.Require(++_depth, result.Position);
        AddNew(result);
        _depth--;
    }

    private void AddNew(Expression result)
    {
        switch (result)
        {
            case ObjectLiteral literal:
                foreach (var member in literal.Members)
                {
                    AddMember(member, literal.Position);
                }

                break;
            case ArrayLiteral array:
                AddAll(
                    array.Elements.Select(static element => element is SpreadExpression spread ? spread.Inner : element)
                );
                break;
            case ConditionalExpression choice:
                AddAll([choice.Then, choice.Otherwise]);
                break;
            case LogicalExpression { Keep: Opcode.JumpKeepingFalse } both:
                Add(both.Right);
                break;
            case LogicalExpression either:
                AddAll([either.Left, either.Right]);
                break;
            case WordLiteral { Push: Opcode.PushNull or Opcode.PushUndefined }:
                break;
            case NameExpression name when _values.TryGetValue(name.Name, out var known):
                AddAll(known);
                AddSetMembers(name.Name, known);
                if (
                    known.Exists(static value => value is ArrayLiteral) && _elements.TryGetValue(name.Name, out var set)
                )
                {
                    AddAll(set);
                }

                break;
            case InvokeExpression
            {
                Function: ScriptFunction.SortedByKeys,
                Arguments: [CallExpression { Callee: MemberExpression source }, ..]
            }:
                Add(source.Target);
                break;
            case InvokeExpression
            {
                Function: ScriptFunction.CSharpConcat or ScriptFunction.Union or ScriptFunction.WithElement
            } both:
                AddAll(both.Arguments);
                break;
            case CallExpression
            {
                Callee: MemberExpression { Name: "map" or "flatMap" },
                Arguments: [LambdaExpression callback]
            }:
                AddAll(callback.Value is { } value ? [value] : Collect(callback.Body!.Statements));
                break;
            case CallExpression
            {
                Callee: MemberExpression { Name: "filter" or "slice" or "reverse" or "sort" } method
            }:
                Add(method.Target);
                break;
            case CallExpression { Callee: MemberExpression { Name: "concat" } method } call:
                AddAll([method.Target, .. call.Arguments]);
                break;
            case InvokeExpression
            {
                Function: ScriptFunction.Distinct
                    or ScriptFunction.ToSequence
                    or ScriptFunction.CSharpSkip
                    or ScriptFunction.CSharpTake
                    or ScriptFunction.CSharpReverse
                    or (>= ScriptFunction.FirstOf and <= ScriptFunction.OnlyOrNothing),
            } call:
                Add(call.Arguments[0]);
                break;
            default:
                throw TokenCursor.NotSupported(
                    "a function that returns an object which is not written in the text: the fields of an index must "
                        + "be known before documents are indexed",
                    result.Position
                );
        }
    }

    /// <summary>Adds the members that are set on an object in a variable. Elements of arrays are no members.</summary>
    private void AddSetMembers(string variable, List<Expression> values)
    {
        if (!_setMembers.TryGetValue(variable, out var added) || !values.Exists(static value => value is ObjectLiteral))
        {
            return;
        }

        foreach (var (name, position) in added)
        {
            AddMember(
                new ObjectMember(
                    name,
                    new WordLiteral(Opcode.PushNull, position),
                    new WordLiteral(Opcode.PushNull, position)
                ),
                position
            );
        }
    }

    private void AddMember(ObjectMember member, int position)
    {
        if (member.Name is null)
        {
            throw TokenCursor.NotSupported(
                member.Key is null
                    ? "spread objects where an index takes its fields from"
                    : "computed names where an index takes its fields from",
                position
            );
        }

        if (member.Name is not NamedFieldWriter.Member && CreatedFields.FindIn(member.Value) is { } misplaced)
        {
            throw TokenCursor.NotSupported("'createField' outside of the member '_'", misplaced.Position);
        }

        if (!_names.Contains(member.Name, StringComparer.Ordinal))
        {
            _names.Add(member.Name);
        }

        AddFactor(member.Name, member.Value);
    }

    private void AddFactor(string name, Expression value)
    {
        double factor = 1;
        if (BoostedValues.TryRead(value) is { } boosted)
        {
            factor = BoostedValues.FactorOf(boosted);
            _boosts.Add(boosted.Position);
        }

        if (!_factors.TryAdd(name, factor) && _factors[name] != factor)
        {
            throw TokenCursor.NotSupported($"two boosts of the field '{name}'", value.Position);
        }
    }

    /// <summary>A member that a statement sets.</summary>
    /// <param name="Name">Its name; null if it is computed.</param>
    /// <param name="Position">The position of the statement's target.</param>
    private readonly record struct AddedMember(string? Name, int Position);
}
