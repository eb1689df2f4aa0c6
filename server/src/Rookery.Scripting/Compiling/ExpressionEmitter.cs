using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>Compiles expressions. Each leaves one value on the stack.</summary>
internal sealed class ExpressionEmitter(EmitContext context, ScriptEmitter script)
{
    // Member names that RavenDB reads as settings of a field, not as values.
    private static readonly string[] FieldSettings = ["$value", "$name", "$options", "$boost", "$vector"];

    // The locals of the shared parts of the conditional expressions that are being compiled.
    private readonly Dictionary<Expression, int> _shared = new(ReferenceEqualityComparer.Instance);

    // Locals of earlier shared parts, for later ones. Only C# has shared parts, and its programs are one function, so
    // all locals belong to the same function.
    private readonly Stack<int> _unused = new();

    private readonly AssignmentEmitter _assignments = new(context, script);

    // The end of the chain that is being compiled, if a '?.' may skip its calls; otherwise null.
    private JumpTarget? _chainEnd;

    // Whether the next expression continues the chain that is being compiled.
    private bool _isLink;

    /// <summary>Compiles an expression.</summary>
    /// <exception cref="ScriptException">The expression is not supported here, or nests too deep.</exception>
    public void Emit(Expression expression)
    {
        bool isLink = _isLink;
        _isLink = false;
        if (isLink)
        {
            EmitOne(expression);
            return;
        }

        var outer = _chainEnd;
        _chainEnd = SkipsCalls(expression) ? context.NewTarget() : null;
        EmitOne(expression);
        if (_chainEnd is { } end)
        {
            context.Builder.Mark(end);
        }

        _chainEnd = outer;
    }

    /// <summary>
    /// Compiles the target of a member, an element or a method. After a <c>?.</c>, null and undefined end the chain,
    /// whose value is undefined then.
    /// </summary>
    public void EmitTarget(Expression target, bool followsOptionalDot)
    {
        var end = _chainEnd;
        _isLink = true;
        Emit(target);
        if (followsOptionalDot && end is not null)
        {
            var exists = context.NewTarget();
            context.Builder.Emit(Opcode.JumpKeepingValue, exists);
            context.Builder.Emit(Opcode.PushUndefined);
            context.Builder.Emit(Opcode.Jump, end);
            context.Builder.Mark(exists);
        }
    }

    /// <summary>
    /// Returns whether a chain calls something after a <c>?.</c>. Without a call there is nothing to skip: a member of
    /// null or undefined is undefined.
    /// </summary>
    private static bool SkipsCalls(Expression chain)
    {
        for (bool hasCall = false; ; )
        {
            switch (chain)
            {
                case CallExpression { Callee: MemberExpression callee }:
                    (hasCall, chain) = (true, callee);
                    break;
                case MemberExpression member when hasCall && member.FollowsOptionalDot:
                case ElementExpression element when hasCall && element.FollowsOptionalDot:
                    return true;
                case MemberExpression member:
                    chain = member.Target;
                    break;
                case ElementExpression element:
                    chain = element.Target;
                    break;
                default:
                    return false;
            }
        }
    }

    private void EmitOne(Expression expression)
    {
        if (_shared.TryGetValue(expression, out int shared))
        {
            context.Builder.Emit(Opcode.LoadLocal, shared);
            return;
        }

        context.EnterLevel(expression.Position);
        switch (expression)
        {
            // PushWhole pushes a small integer as an int. The cast converts the int to a long.
            case NumberLiteral { IsLong: true, Whole: { } whole } number when whole == (int)whole:
                script.Calls.EmitInvoke(ScriptFunction.CastToLong, [number with { IsLong = false }], number.Position);
                break;
            case NumberLiteral { IsCSharp: true } number:
                context.Builder.EmitNumber(number.Value, number.Whole);
                break;
            case NumberLiteral number:
                context.Builder.EmitNumber(number.Value);
                break;
            case TextLiteral text:
                context.Builder.Emit(Opcode.PushText, text.Text);
                break;
            case WordLiteral word:
                context.Builder.Emit(word.Push);
                break;
            case TemplateLiteral template:
                EmitTemplate(template);
                break;
            case NameExpression variable:
                EmitName(variable);
                break;
            case MemberExpression member:
                if (IsOfFunctionObject(member, out string name))
                {
                    EmitConstant(member, name);
                    break;
                }

                context.OpenMetadataOf(member);
                EmitTarget(member.Target, member.FollowsOptionalDot);
                if (member is { Name: "length", IsInOptionalChain: false } && context.Use != ScriptUse.Indexing)
                {
                    EmitLength();
                }
                else
                {
                    context.Builder.Emit(Opcode.GetMember, member.Name);
                }

                break;
            case ElementExpression element:
                EmitTarget(element.Target, element.FollowsOptionalDot);
                Emit(element.Index);
                context.Builder.Emit(Opcode.GetElement);
                break;
            case CallExpression call:
                script.Calls.EmitCall(call);
                break;
            case NewExpression creation:
                script.Calls.EmitNew(creation);
                break;
            case InvokeExpression invoke:
                script.Calls.EmitInvoke(invoke.Function, invoke.Arguments, invoke.Position);
                break;
            case ArrayLiteral array:
                EmitArray(array);
                break;
            case ObjectLiteral literal:
                EmitObject(literal);
                break;
            case UnaryExpression unary:
                Emit(unary.Operand);
                context.Builder.Emit(unary.Operator);
                break;
            case BinaryExpression binary:
                Emit(binary.Left);
                Emit(binary.Right);
                context.Builder.Emit(binary.Operator);
                break;
            case SequenceExpression sequence:
                foreach (var part in sequence.Parts.SkipLast(1))
                {
                    Emit(part);
                    context.Builder.Emit(Opcode.Pop);
                }

                Emit(sequence.Parts[^1]);
                break;
            case LogicalExpression logical:
                var end = context.NewTarget();
                Emit(logical.Left);
                context.Builder.Emit(logical.Keep, end);
                Emit(logical.Right);
                context.Builder.Mark(end);
                break;
            case ConditionalExpression conditional:
                EmitConditional(conditional);
                break;
            case AssignmentExpression
            {
                Operator: Opcode.JumpKeepingFalse or Opcode.JumpKeepingTrue or Opcode.JumpKeepingValue
            } assignment:
                _assignments.EmitLogical(assignment);
                break;
            case AssignmentExpression assignment:
                _assignments.Emit(assignment.Target, assignment.Operator, assignment.Value);
                break;
            case UpdateExpression update:
                _assignments.EmitUpdate(update);
                break;
            case DeleteExpression deletion:
                _assignments.EmitDelete(deletion);
                break;
            case LambdaExpression:
                throw TokenCursor.NotSupported(
                    "functions as values, except as arguments of array methods",
                    expression.Position
                );
            default:
                throw TokenCursor.NotSupported(
                    expression is SpreadExpression ? "spread values here" : "this value here",
                    expression.Position
                );
        }

        context.LeaveLevel();
    }

    private void EmitName(NameExpression name)
    {
        if (context.Scope.TryFind(name.Name, out var variable))
        {
            context.Builder.Emit(Opcode.LoadLocal, variable.Local);
        }
        else if (context.HasArguments && name.Name is "args")
        {
            context.EmitArguments();
        }
        else if (context.HasArguments && name.Name.Length > 1 && name.Name[0] == '$')
        {
            context.EmitArguments();
            context.Builder.Emit(Opcode.GetMember, name.Name[1..]);
        }
        else
        {
            switch (name.Name)
            {
                case "NaN":
                    context.Builder.EmitNumber(double.NaN);
                    break;
                case "Infinity":
                    context.Builder.EmitNumber(double.PositiveInfinity);
                    break;
                default:
                    throw TokenCursor.NotSupported(
                        context.Functions.ContainsKey(name.Name)
                            ? $"the function '{name.Name}' as a value"
                            : $"the name '{name.Name}', which is not defined here",
                        name.Position
                    );
            }
        }
    }

    private void EmitTemplate(TemplateLiteral template)
    {
        Emit(template.Parts[0]);
        foreach (var part in template.Parts.Skip(1))
        {
            Emit(part);
            context.Builder.Emit(Opcode.JoinTexts);
        }
    }

    private void EmitConditional(ConditionalExpression conditional)
    {
        JumpTarget otherwise = context.NewTarget(),
            end = context.NewTarget();
        if (conditional.Shared is { } shared)
        {
            int local = _unused.TryPop(out int unused) ? unused : context.NewLocal(shared.Position);
            Emit(shared);
            context.Builder.Emit(Opcode.StoreLocal, local);
            _shared.Add(shared, local);
        }

        Emit(conditional.Condition);
        context.Builder.Emit(Opcode.JumpIfFalse, otherwise);
        Emit(conditional.Then);
        context.Builder.Emit(Opcode.Jump, end);
        context.Builder.Mark(otherwise);
        Emit(conditional.Otherwise);
        context.Builder.Mark(end);
        if (conditional.Shared is not null && _shared.Remove(conditional.Shared, out int freedLocal))
        {
            _unused.Push(freedLocal);
        }
    }

    private void EmitArray(ArrayLiteral array)
    {
        context.Builder.Emit(Opcode.NewArray);
        foreach (var element in array.Elements)
        {
            Emit(element is SpreadExpression spread ? spread.Inner : element);
            context.Builder.Emit(element is SpreadExpression ? Opcode.AppendAll : Opcode.Append);
        }
    }

    private void EmitObject(ObjectLiteral literal)
    {
        context.Builder.Emit(Opcode.NewObject);
        foreach (var member in literal.Members)
        {
            if (member.Key is not null)
            {
                Emit(member.Key);
                Emit(member.Value);
                context.Builder.Emit(Opcode.AddElement);
            }
            else
            {
                EmitMemberValue(member);
                if (member.Name is null)
                {
                    context.Builder.Emit(Opcode.AddAll);
                }
                else if (
                    context.Use == ScriptUse.Indexing
                    && Array.IndexOf(FieldSettings, member.Name) >= 0
                    && !CreatedFields.IsField(literal)
                )
                {
                    throw TokenCursor.NotSupported(
                        $"fields that a map gives settings to ('{member.Name}')",
                        member.Value.Position
                    );
                }
                else
                {
                    context.Builder.Emit(Opcode.AddMember, member.Name);
                }
            }
        }
    }

    private void EmitMemberValue(ObjectMember member)
    {
        bool mayBeBoosted =
            context.Use == ScriptUse.Indexing
            && member.Name is not null
            && !context.Functions.ContainsKey(BoostedValues.Function)
            && !context.Scope.TryFind(BoostedValues.Function, out _);
        if (mayBeBoosted && BoostedValues.TryRead(member.Value) is { } boosted)
        {
            context.Boosts.Add(boosted.Position);
            Emit(boosted.Arguments[0]);
        }
        else
        {
            Emit(member.Value);
        }
    }

    /// <summary>Emits <c>length</c>, which is 0 for undefined in patches and projections, as in RavenDB.</summary>
    private void EmitLength()
    {
        JumpTarget exists = context.NewTarget(),
            end = context.NewTarget();
        context.Builder.Emit(Opcode.Duplicate);
        context.Builder.Emit(Opcode.PushUndefined);
        context.Builder.Emit(Opcode.StrictEqual);
        context.Builder.Emit(Opcode.JumpIfFalse, exists);
        context.Builder.Emit(Opcode.Pop);
        context.Builder.EmitNumber(0);
        context.Builder.Emit(Opcode.Jump, end);
        context.Builder.Mark(exists);
        context.Builder.Emit(Opcode.GetMember, "length");
        context.Builder.Mark(end);
    }

    // Whether a member is of an object such as Math, and not of a variable or function of that name.
    private bool IsOfFunctionObject(MemberExpression member, out string fullName)
    {
        string? name = (member.Target as NameExpression)?.Name;
        fullName = $"{name}.{member.Name}";
        return name is not null
            && FunctionCatalogue.HasOnlyFunctions(name)
            && !context.Functions.ContainsKey(name)
            && !context.Scope.TryFind(name, out _);
    }

    private void EmitConstant(MemberExpression member, string name) =>
        context.Builder.EmitNumber(
            FunctionCatalogue.TryFindConstant(name, out double value)
                ? value
                : throw TokenCursor.NotSupported($"'{name}'", member.Target.Position)
        );
}
