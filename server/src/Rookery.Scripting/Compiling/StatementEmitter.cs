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
        context.MarkLine(statement.Position);
        switch (statement)
        {
            case ExpressionStatement expression:
                EmitForEffect(expression.Expression);
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
            case ForStatement loop:
                EmitFor(loop);
                break;
            case WhileStatement loop:
                EmitWhile(loop);
                break;
            case SwitchStatement choice:
                EmitSwitch(choice);
                break;
            case JumpStatement jump:
                EmitJump(jump);
                break;
            case ThrowStatement failure:
                script.Emit(failure.Value);
                context.Builder.Emit(Opcode.Throw);
                break;
            case ReturnStatement result:
                EmitReturn(result);
                break;
            default:
                throw TokenCursor.NotSupported("functions declared inside of others or of blocks", statement.Position);
        }

        context.LeaveLevel();
    }

    /// <summary>Compiles an expression whose value is not used. Then <c>a++</c> need not keep the old value.</summary>
    private void EmitForEffect(Expression expression)
    {
        script.Emit(expression is UpdateExpression update ? update with { IsPrefix = true } : expression);
        context.Builder.Emit(Opcode.Pop);
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

        if (variable.IsVar)
        {
            int local = context.Scope.FindVar(variable.Name, variable.Position).Local;
            // Without a value, the variable keeps that of an earlier iteration or block.
            if (variable.Value is not null)
            {
                script.Emit(variable.Value);
                context.Builder.Emit(Opcode.StoreLocal, local);
            }

            return;
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

        context.Builder.Emit(Opcode.StoreLocal, context.Declare(variable.Name, variable.IsConstant, variable.Position));
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

    /// <summary>
    /// Compiles the body of a callback that is called in a loop. In JavaScript, its variables are in one scope with
    /// the parameters, and each call begins with undefined variables.
    /// </summary>
    public void EmitCallbackBody(BlockStatement body)
    {
        foreach (int local in context.DeclareVars(ScriptEmitter.VarsOf(body.Statements)))
        {
            context.Builder.Emit(Opcode.PushUndefined);
            context.Builder.Emit(Opcode.StoreLocal, local);
        }

        int line = context.Builder.Line;
        EmitBlock(body with { OpensScope = false });
        context.Builder.Line = line;
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
        context.HasRepetition = true;
        var outer = context.Scope;
        var outerLoop = context.Loop;
        context.Scope = new Scope(outer);
        script.Emit(loop.Values);
        int? ownerOfNames = loop.TakesNames ? EmitNames(loop.Position) : null;
        int iteration = context.BeginIteration(loop.Position);
        JumpTarget next = context.NewTarget(),
            end = context.NewTarget();
        context.Loop = new Loop(next, end);
        int element = DeclareElement(loop);
        context.Builder.Mark(next);
        if (ownerOfNames is { } owner)
        {
            context.Builder.Emit(Opcode.NextName, iteration, owner, element, end);
        }
        else
        {
            context.Builder.EmitNext(iteration, element, end);
        }

        Emit(loop.Body);
        context.Builder.Emit(Opcode.Jump, next);
        context.Builder.Mark(end);
        context.Loop = outerLoop;
        context.Scope = outer;
    }

    /// <summary>Emits the names of the members of the value on the stack, and keeps the value in a local.</summary>
    private int EmitNames(int position)
    {
        int owner = context.NewLocal(position);
        context.Builder.Emit(Opcode.StoreLocal, owner);
        context.Builder.Emit(Opcode.LoadLocal, owner);
        context.Builder.Emit(Opcode.Invoke, (int)ScriptFunction.Keys, second: 1);
        return owner;
    }

    private int DeclareElement(ForOfStatement loop)
    {
        if (loop.IsVar)
        {
            return context.Scope.FindVar(loop.Name, loop.Position).Local;
        }

        RefuseEarlierUse(loop.Name, loop.Position);
        return context.Declare(loop.Name, loop.IsConstant, loop.Position);
    }

    private void EmitFor(ForStatement loop)
    {
        context.HasRepetition = true;
        var outer = context.Scope;
        var outerLoop = context.Loop;
        context.Scope = new Scope(outer);
        JumpTarget test = context.NewTarget(),
            next = context.NewTarget(),
            end = context.NewTarget();
        if (loop.Start is not null)
        {
            Emit(loop.Start);
        }

        context.Builder.Mark(test);
        if (loop.Condition is not null)
        {
            script.Emit(loop.Condition);
            context.Builder.Emit(Opcode.JumpIfFalse, end);
        }

        context.Loop = new Loop(next, end);
        Emit(loop.Body);
        context.Builder.Mark(next);
        if (loop.Step is not null)
        {
            context.MarkLine(loop.Position);
            EmitForEffect(loop.Step);
        }

        context.Builder.Emit(Opcode.Jump, test);
        context.Builder.Mark(end);
        context.Loop = outerLoop;
        context.Scope = outer;
    }

    private void EmitWhile(WhileStatement loop)
    {
        context.HasRepetition = true;
        var outerLoop = context.Loop;
        JumpTarget body = context.NewTarget(),
            test = context.NewTarget(),
            end = context.NewTarget();
        if (loop.IsDo)
        {
            context.Builder.Emit(Opcode.Jump, body);
        }

        context.Builder.Mark(test);
        script.Emit(loop.Condition);
        context.Builder.Emit(Opcode.JumpIfFalse, end);
        context.Builder.Mark(body);
        context.Loop = new Loop(test, end);
        Emit(loop.Body);
        context.Builder.Emit(Opcode.Jump, test);
        context.Builder.Mark(end);
        context.Loop = outerLoop;
    }

    private void EmitSwitch(SwitchStatement choice)
    {
        var outer = context.Scope;
        var outerLoop = context.Loop;
        int value = context.NewLocal(choice.Position);
        script.Emit(choice.Value);
        context.Builder.Emit(Opcode.StoreLocal, value);
        context.Scope = new Scope(outer);
        var end = context.NewTarget();
        context.Loop = new Loop(outerLoop?.Next, end);
        var bodies = choice.Clauses.Select(_ => context.NewTarget()).ToList();
        var chosenWithoutMatch = end;
        foreach (var (clause, body) in choice.Clauses.Zip(bodies))
        {
            if (clause.Test is null)
            {
                chosenWithoutMatch = body;
                continue;
            }

            var otherwise = context.NewTarget();
            context.Builder.Emit(Opcode.LoadLocal, value);
            script.Emit(clause.Test);
            context.Builder.Emit(Opcode.StrictEqual);
            context.Builder.Emit(Opcode.JumpIfFalse, otherwise);
            context.Builder.Emit(Opcode.Jump, body);
            context.Builder.Mark(otherwise);
        }

        context.Builder.Emit(Opcode.Jump, chosenWithoutMatch);
        foreach (var (clause, body) in choice.Clauses.Zip(bodies))
        {
            context.Builder.Mark(body);
            foreach (var statement in clause.Statements)
            {
                Emit(statement);
            }
        }

        context.Builder.Mark(end);
        context.Loop = outerLoop;
        context.Scope = outer;
    }

    private void EmitJump(JumpStatement jump)
    {
        if (jump.IsBreak)
        {
            context.Builder.Emit(
                Opcode.Jump,
                context.Loop?.End ?? throw Misplaced("'break' stands outside of a loop and of 'switch'", jump.Position)
            );
        }
        else
        {
            context.Builder.Emit(
                Opcode.Jump,
                context.Loop?.Next ?? throw Misplaced("'continue' stands outside of a loop", jump.Position)
            );
        }
    }

    private static ScriptException Misplaced(string message, int position) =>
        new(ScriptFault.Syntax, message, position);

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
