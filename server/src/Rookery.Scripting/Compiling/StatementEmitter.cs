using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>
/// Compiles statements. After each statement the stack is as before, so a jump out of a loop has nothing to pop.
/// </summary>
internal sealed class StatementEmitter(EmitContext context, ScriptEmitter script)
{
    /// <summary>Compiles a statement.</summary>
    /// <exception cref="ScriptException">The statement is not supported here, or nests too deep.</exception>
    public void Emit(Statement statement)
    {
        context.EnterLevel(statement.Position);
        switch (statement)
        {
            case ExpressionStatement expression:
                script.Emit(expression.Expression);
                context.Builder.Emit(Opcode.Pop);
                break;
            case VariableStatement variable:
                EmitVariable(variable);
                break;
            case BlockStatement block:
                EmitBlock(block);
                break;
            case IfStatement choice:
                EmitIf(choice);
                break;
            case ForOfStatement loop:
                EmitForOf(loop);
                break;
            case LoopStatement jump:
                var around =
                    context.Loop
                    ?? throw new ScriptException(
                        ScriptFault.Syntax,
                        jump.IsBreak ? "'break' stands outside of a loop" : "'continue' stands outside of a loop",
                        jump.Position
                    );
                context.Builder.Emit(Opcode.Jump, jump.IsBreak ? around.End : around.Next);
                break;
            case ReturnStatement result:
                EmitReturn(result);
                break;
            default:
                throw TokenCursor.NotSupported("functions declared inside of others or of blocks", statement.Position);
        }

        context.LeaveLevel();
    }

    private void EmitVariable(VariableStatement variable)
    {
        if (variable.Value is LambdaExpression lambda)
        {
            throw TokenCursor.NotSupported(
                "functions in variables (declare them as 'function name() { … }')",
                lambda.Position
            );
        }

        // In JavaScript, it keeps the value of an earlier iteration or block.
        if (variable is { IsVar: true, Value: null } && !context.Scope.IsFunction)
        {
            throw TokenCursor.NotSupported(
                $"'var {variable.Name}' without a value inside of a block (write 'let {variable.Name}')",
                variable.Position
            );
        }

        if (variable.Value is null)
        {
            context.Builder.Emit(Opcode.PushUndefined);
        }
        else
        {
            script.Emit(variable.Value);
        }

        if (variable.IsHoisted)
        {
            RefuseEarlierUse(variable.Name, variable.Position);
        }

        context.Builder.Emit(
            Opcode.StoreLocal,
            context.Declare(variable.Name, variable.IsConstant, variable.Position, variable.IsVar)
        );
    }

    private void RefuseEarlierUse(string name, int position)
    {
        if (context.Scope.IsUsedFromOutside(name))
        {
            throw TokenCursor.NotSupported($"'{name}' before its declaration", position);
        }
    }

    /// <summary>Compiles a block, in its own scope if it opens one.</summary>
    public void EmitBlock(BlockStatement block)
    {
        var outer = context.Scope;
        context.Scope = block.OpensScope ? new Scope(outer) : outer;
        foreach (var statement in block.Statements)
        {
            Emit(statement);
        }

        context.Scope = outer;
    }

    private void EmitIf(IfStatement choice)
    {
        JumpTarget otherwise = context.NewTarget(),
            end = context.NewTarget();
        script.Emit(choice.Condition);
        context.Builder.Emit(Opcode.JumpIfFalse, otherwise);
        Emit(choice.Then);
        context.Builder.Emit(Opcode.Jump, end);
        context.Builder.Mark(otherwise);
        if (choice.Otherwise is not null)
        {
            Emit(choice.Otherwise);
        }

        context.Builder.Mark(end);
    }

    private void EmitForOf(ForOfStatement loop)
    {
        var outer = context.Scope;
        var outerLoop = context.Loop;
        context.Scope = new Scope(outer);
        script.Emit(loop.Values);
        int iteration = context.BeginIteration(loop.Position);
        RefuseEarlierUse(loop.Name, loop.Position);
        context.Loop = new Loop(context.NewTarget(), context.NewTarget());
        int element = context.Declare(loop.Name, loop.IsConstant, loop.Position, loop.IsVar);
        context.Builder.Mark(context.Loop.Next);
        context.Builder.EmitNext(iteration, element, context.Loop.End);
        Emit(loop.Body);
        context.Builder.Emit(Opcode.Jump, context.Loop.Next);
        context.Builder.Mark(context.Loop.End);
        context.Loop = outerLoop;
        context.Scope = outer;
    }

    private void EmitReturn(ReturnStatement result)
    {
        if (result.Value is null)
        {
            context.Builder.Emit(Opcode.PushUndefined);
        }
        else
        {
            script.Emit(result.Value);
        }

        if (context.ReturnTarget is null)
        {
            context.Builder.Emit(Opcode.Return);
        }
        else
        {
            context.Builder.Emit(Opcode.Jump, context.ReturnTarget);
        }
    }
}
