using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <content>Expressions. Each leaves one value on the stack.</content>
internal sealed partial class ScriptEmitter
{
    private void Emit(Expression expression)
    {
        Deepen(expression.Position);
        switch (expression)
        {
            case NumberLiteral { IsLong: true, Whole: { } whole } number when whole == (int)whole:
                EmitInvoke(ScriptFunction.CastToLong, [number with { IsLong = false }], number.Position);
                break;
            case NumberLiteral { IsCSharp: true } number:
                _builder.EmitNumber(number.Value, number.Whole);
                break;
            case NumberLiteral number:
                _builder.EmitNumber(number.Value);
                break;
            case TextLiteral text:
                _builder.Emit(Opcode.PushText, text.Text);
                break;
            case WordLiteral word:
                _builder.Emit(word.Push);
                break;
            case TemplateLiteral template:
                EmitTemplate(template);
                break;
            case NameExpression name:
                EmitName(name);
                break;
            case MemberExpression member:
                RefuseCarrier(member);
                Emit(member.Target);
                if (member is { Name: "length", IsOptional: false } && _use != ScriptUse.Indexing)
                {
                    EmitLength();
                }
                else
                {
                    _builder.Emit(Opcode.GetMember, member.Name);
                }

                break;
            case ElementExpression element:
                Emit(element.Target);
                Emit(element.Index);
                _builder.Emit(Opcode.GetElement);
                break;
            case CallExpression call:
                EmitCall(call);
                break;
            case InvokeExpression invoke:
                EmitInvoke(invoke.Function, invoke.Arguments, invoke.Position);
                break;
            case ArrayLiteral array:
                EmitArray(array);
                break;
            case ObjectLiteral literal:
                EmitObject(literal);
                break;
            case UnaryExpression unary:
                Emit(unary.Operand);
                _builder.Emit(unary.Operator);
                break;
            case BinaryExpression binary:
                Emit(binary.Left);
                Emit(binary.Right);
                _builder.Emit(binary.Operator);
                break;
            case LogicalExpression logical:
                var kept = NewTarget();
                Emit(logical.Left);
                _builder.Emit(logical.Keep, kept);
                Emit(logical.Right);
                _builder.Mark(kept);
                break;
            case ConditionalExpression conditional:
                EmitConditional(conditional);
                break;
            case AssignmentExpression assignment:
                EmitAssignment(assignment.Target, assignment.Operator, assignment.Value);
                break;
            case UpdateExpression update:
                EmitUpdate(update);
                break;
            case DeleteExpression deletion:
                EmitDelete(deletion);
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

        _depth--;
    }

    private void EmitTemplate(TemplateLiteral template)
    {
        Emit(template.Parts[0]);
        foreach (var part in template.Parts.Skip(1))
        {
            Emit(part);
            _builder.Emit(Opcode.JoinTexts);
        }
    }

    private void EmitConditional(ConditionalExpression conditional)
    {
        JumpTarget otherwise = NewTarget(),
            end = NewTarget();
        Emit(conditional.Condition);
        _builder.Emit(Opcode.JumpIfFalse, otherwise);
        Emit(conditional.Then);
        _builder.Emit(Opcode.Jump, end);
        _builder.Mark(otherwise);
        Emit(conditional.Otherwise);
        _builder.Mark(end);
    }

    private void EmitArray(ArrayLiteral array)
    {
        _builder.Emit(Opcode.NewArray);
        foreach (var element in array.Elements)
        {
            Emit(element is SpreadExpression spread ? spread.Inner : element);
            _builder.Emit(element is SpreadExpression ? Opcode.AppendAll : Opcode.Append);
        }
    }

    // What RavenDB takes for settings of a field instead of a value.
    private static readonly string[] FieldSettings = ["$value", "$name", "$options", "$boost", "$vector"];

    private void EmitObject(ObjectLiteral literal)
    {
        _builder.Emit(Opcode.NewObject);
        foreach (var member in literal.Members)
        {
            if (member.Key is not null)
            {
                Emit(member.Key);
                Emit(member.Value);
                _builder.Emit(Opcode.AddElement);
            }
            else
            {
                Emit(member.Value);
                if (member.Name is null)
                {
                    _builder.Emit(Opcode.AddAll);
                }
                else if (_use == ScriptUse.Indexing && Array.IndexOf(FieldSettings, member.Name) >= 0)
                {
                    throw TokenCursor.NotSupported(
                        $"fields that a map gives settings to ('{member.Name}')",
                        member.Value.Position
                    );
                }
                else
                {
                    _builder.Emit(Opcode.AddMember, member.Name);
                }
            }
        }
    }

    private void EmitAssignment(Expression target, Opcode? operation, Expression value)
    {
        RefuseMetadata(target);
        switch (target)
        {
            case NameExpression name:
                int local = FindAssignable(name);
                if (operation is not null)
                {
                    _builder.Emit(Opcode.LoadLocal, local);
                }

                EmitOperand(operation, value);
                _builder.Emit(Opcode.Duplicate);
                _builder.Emit(Opcode.StoreLocal, local);
                break;
            case MemberExpression member:
                Emit(member.Target);
                if (operation is not null)
                {
                    _builder.Emit(Opcode.Duplicate);
                    _builder.Emit(Opcode.GetMember, member.Name);
                }

                EmitOperand(operation, value);
                _builder.Emit(Opcode.SetMember, member.Name);
                break;
            case ElementExpression element:
                Emit(element.Target);
                Emit(element.Index);
                if (operation is not null)
                {
                    _builder.Emit(Opcode.DuplicateTwo);
                    _builder.Emit(Opcode.GetElement);
                }

                EmitOperand(operation, value);
                _builder.Emit(Opcode.SetElement);
                break;
            default:
                throw TokenCursor.NotSupported("this assignment", target.Position);
        }
    }

    private void EmitOperand(Opcode? operation, Expression value)
    {
        Emit(value);
        if (operation is { } opcode)
        {
            _builder.Emit(opcode);
        }
    }

    /// <summary>
    /// <c>a++</c> is <c>(a -= -1) - 1</c>: subtraction makes a number of what it finds, where addition would join
    /// texts.
    /// </summary>
    private void EmitUpdate(UpdateExpression update)
    {
        double change = update.Operator == Opcode.Add ? 1 : -1;
        EmitAssignment(update.Target, Opcode.Subtract, new NumberLiteral(-change, update.Position));
        if (!update.IsPrefix)
        {
            _builder.EmitNumber(change);
            _builder.Emit(Opcode.Subtract);
        }
    }

    private void EmitDelete(DeleteExpression deletion)
    {
        RefuseMetadata(deletion.Target);
        if (deletion.Target is MemberExpression member)
        {
            Emit(member.Target);
            _builder.Emit(Opcode.DeleteMember, member.Name);
        }
        else if (deletion.Target is ElementExpression element)
        {
            Emit(element.Target);
            Emit(element.Index);
            _builder.Emit(Opcode.DeleteElement);
        }
    }

    /// <summary>Refuses what would change metadata: a script sees a copy of them.</summary>
    private static void RefuseMetadata(Expression target)
    {
        for (var part = target; part is not null; )
        {
            if (
                part
                is MemberExpression { Name: "@metadata" }
                    or CallExpression { Callee: NameExpression { Name: "getMetadata" or "metadataFor" } }
            )
            {
                throw TokenCursor.NotSupported("changes of the metadata", part.Position);
            }

            part = part switch
            {
                MemberExpression member => member.Target,
                ElementExpression element => element.Target,
                _ => null,
            };
        }
    }

    /// <summary>The length of what is missing is 0, as RavenDB has it in patches and selections.</summary>
    private void EmitLength()
    {
        JumpTarget exists = NewTarget(),
            end = NewTarget();
        _builder.Emit(Opcode.Duplicate);
        _builder.Emit(Opcode.PushUndefined);
        _builder.Emit(Opcode.StrictEqual);
        _builder.Emit(Opcode.JumpIfFalse, exists);
        _builder.Emit(Opcode.Pop);
        _builder.EmitNumber(0);
        _builder.Emit(Opcode.Jump, end);
        _builder.Mark(exists);
        _builder.Emit(Opcode.GetMember, "length");
        _builder.Mark(end);
    }

    private void RefuseCarrier(MemberExpression member)
    {
        if (
            member.Target is NameExpression { Name: var name }
            && FunctionCatalogue.IsCarrier(name)
            && !_scope.TryFind(name, out _)
        )
        {
            throw TokenCursor.NotSupported($"'{name}.{member.Name}'", member.Target.Position);
        }
    }
}
