using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>Compiles assignments, <c>++</c>, <c>--</c> and <c>delete</c>. Each leaves one value on the stack.</summary>
internal sealed class AssignmentEmitter(EmitContext context, ScriptEmitter script)
{
    /// <summary>Compiles <c>a = b</c>, or <c>a += b</c> with the instruction of the operator.</summary>
    /// <param name="target">What is assigned to. Its owner and key are computed once.</param>
    /// <param name="operation">The instruction of the operator; null for <c>=</c>.</param>
    /// <param name="value">The right side.</param>
    /// <param name="oldValue">The local that receives the value before the assignment; null for none.</param>
    public void Emit(Expression target, Opcode? operation, Expression value, int? oldValue = null)
    {
        context.RefuseMetadataChange(target);
        context.OpenMetadataOf(target);
        switch (target)
        {
            case NameExpression name:
                int local = context.FindAssignable(name);
                if (operation is not null)
                {
                    context.Builder.Emit(Opcode.LoadLocal, local);
                    EmitCopy(oldValue);
                }

                EmitOperand(operation, value);
                context.Builder.Emit(Opcode.Duplicate);
                context.Builder.Emit(Opcode.StoreLocal, local);
                break;
            case MemberExpression member:
                script.Emit(member.Target);
                if (operation is not null)
                {
                    context.Builder.Emit(Opcode.Duplicate);
                    context.Builder.Emit(Opcode.GetMember, member.Name);
                    EmitCopy(oldValue);
                }

                EmitOperand(operation, value);
                context.Builder.Emit(Opcode.SetMember, member.Name);
                break;
            case ElementExpression element:
                script.Emit(element.Target);
                script.Emit(element.Index);
                if (operation is not null)
                {
                    context.Builder.Emit(Opcode.DuplicateTwo);
                    context.Builder.Emit(Opcode.GetElement);
                    EmitCopy(oldValue);
                }

                EmitOperand(operation, value);
                context.Builder.Emit(Opcode.SetElement);
                break;
            default:
                throw TokenCursor.NotSupported("this assignment", target.Position);
        }
    }

    /// <summary>
    /// Emits <c>a ??= b</c>, which computes and assigns <c>b</c> only if the old value is not kept. The owner and the
    /// key of a member are computed once, into locals.
    /// </summary>
    public void EmitLogical(AssignmentExpression assignment)
    {
        var jump = assignment.Operator!.Value;
        var end = context.NewTarget();
        switch (assignment.Target)
        {
            case NameExpression name:
                script.Emit(name);
                context.Builder.Emit(jump, end);
                Emit(name, operation: null, assignment.Value);
                break;
            case MemberExpression member:
                int? owner = KeepUnlessThis(member.Target);
                EmitKept(member.Target, owner);
                context.Builder.Emit(Opcode.GetMember, member.Name);
                context.Builder.Emit(jump, end);
                context.RefuseMetadataChange(member);
                context.OpenMetadataOf(member);
                EmitKept(member.Target, owner);
                script.Emit(assignment.Value);
                context.Builder.Emit(Opcode.SetMember, member.Name);
                break;
            case ElementExpression element:
                int? container = KeepUnlessThis(element.Target);
                int key = EmitToLocal(element.Index);
                EmitKept(element.Target, container);
                context.Builder.Emit(Opcode.LoadLocal, key);
                context.Builder.Emit(Opcode.GetElement);
                context.Builder.Emit(jump, end);
                context.RefuseMetadataChange(element);
                EmitKept(element.Target, container);
                context.Builder.Emit(Opcode.LoadLocal, key);
                script.Emit(assignment.Value);
                context.Builder.Emit(Opcode.SetElement);
                break;
            default:
                throw TokenCursor.NotSupported("this assignment", assignment.Target.Position);
        }

        context.Builder.Mark(end);
    }

    /// <summary>
    /// Emits an expression that is used twice into a local, and returns the local; null for <c>this</c>, which a script
    /// cannot assign.
    /// </summary>
    private int? KeepUnlessThis(Expression expression) =>
        expression is NameExpression { Name: "this" } ? null : EmitToLocal(expression);

    private void EmitKept(Expression expression, int? local)
    {
        if (local is { } kept)
        {
            context.Builder.Emit(Opcode.LoadLocal, kept);
        }
        else
        {
            script.Emit(expression);
        }
    }

    private int EmitToLocal(Expression expression)
    {
        int local = context.NewLocal(expression.Position);
        script.Emit(expression);
        context.Builder.Emit(Opcode.StoreLocal, local);
        return local;
    }

    private void EmitOperand(Opcode? operation, Expression value)
    {
        script.Emit(value);
        if (operation is { } opcode)
        {
            context.Builder.Emit(opcode);
        }
    }

    private void EmitCopy(int? local)
    {
        if (local is { } copy)
        {
            context.Builder.Emit(Opcode.Duplicate);
            context.Builder.Emit(Opcode.StoreLocal, copy);
        }
    }

    /// <summary>
    /// Emits <c>++a</c> as <c>a -= -1</c>, because subtraction converts its operand to a number, and addition would
    /// join texts. <c>a++</c> also keeps the old value: <c>0.1 + 1 - 1</c> is not <c>0.1</c>.
    /// </summary>
    public void EmitUpdate(UpdateExpression update)
    {
        var change = new NumberLiteral(update.Operator == Opcode.Add ? -1 : 1, update.Position);
        int? oldValue = update.IsPrefix ? null : context.OldValueLocal(update.Position);
        Emit(update.Target, Opcode.Subtract, change, oldValue);
        if (oldValue is { } local)
        {
            context.Builder.Emit(Opcode.Pop);
            context.Builder.Emit(Opcode.LoadLocal, local);
            context.Builder.Emit(Opcode.ToNumber);
        }
    }

    /// <summary>Compiles <c>delete a.b</c>.</summary>
    public void EmitDelete(DeleteExpression deletion)
    {
        context.RefuseMetadataChange(deletion.Target);
        context.OpenMetadataOf(deletion.Target);
        if (deletion.Target is MemberExpression member)
        {
            script.Emit(member.Target);
            context.Builder.Emit(Opcode.DeleteMember, member.Name);
        }
        else if (deletion.Target is ElementExpression element)
        {
            script.Emit(element.Target);
            script.Emit(element.Index);
            context.Builder.Emit(Opcode.DeleteElement);
        }
    }
}
