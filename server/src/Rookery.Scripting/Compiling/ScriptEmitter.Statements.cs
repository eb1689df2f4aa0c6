using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <content>Statements. Each leaves the stack as it was, so that a jump out of loops needs to drop nothing.</content>
internal sealed partial class ScriptEmitter
{
    private Loop? _loop;
    private JumpTarget? _returnTarget;

    private void Emit(Statement statement)
    {
        Deepen(statement.Position);
        switch (statement)
        {
            case ExpressionStatement expression:
                Emit(expression.Expression);
                _builder.Emit(Opcode.Pop);
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
            case ForOfStatement each:
                EmitForOf(each);
                break;
            case LoopStatement jump:
                var around =
                    _loop
                    ?? throw new ScriptException(
                        ScriptFault.Syntax,
                        jump.IsBreak ? "'break' stands outside of a loop" : "'continue' stands outside of a loop",
                        jump.Position
                    );
                _builder.Emit(Opcode.Jump, jump.IsBreak ? around.End : around.Next);
                break;
            case ReturnStatement result:
                EmitReturn(result);
                break;
            default:
                throw TokenCursor.NotSupported("functions declared inside of others or of blocks", statement.Position);
        }

        _depth--;
    }

    private void Deepen(int position)
    {
        if (++_depth > MostDepth)
        {
            throw new ScriptException(
                ScriptFault.TooLarge,
                $"The script nests deeper than {MostDepth} operations",
                position
            );
        }
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

        if (variable.Value is null)
        {
            _builder.Emit(Opcode.PushUndefined);
        }
        else
        {
            Emit(variable.Value);
        }

        if (variable.IsHoisted && _scope.IsUsedFromOutside(variable.Name))
        {
            throw TokenCursor.NotSupported($"'{variable.Name}' before its declaration", variable.Position);
        }

        _builder.Emit(
            Opcode.StoreLocal,
            Declare(variable.Name, variable.IsConstant, variable.Position, variable.IsVar)
        );
    }

    private void EmitBlock(BlockStatement block)
    {
        var outer = _scope;
        _scope = block.OpensScope ? new Scope(outer) : outer;
        foreach (var statement in block.Statements)
        {
            Emit(statement);
        }

        _scope = outer;
    }

    private void EmitIf(IfStatement choice)
    {
        JumpTarget otherwise = NewTarget(),
            end = NewTarget();
        Emit(choice.Condition);
        _builder.Emit(Opcode.JumpIfFalse, otherwise);
        Emit(choice.Then);
        _builder.Emit(Opcode.Jump, end);
        _builder.Mark(otherwise);
        if (choice.Otherwise is not null)
        {
            Emit(choice.Otherwise);
        }

        _builder.Mark(end);
    }

    private void EmitForOf(ForOfStatement each)
    {
        Emit(each.Values);
        int iteration = BeginIteration(each.Position);
        var outer = _scope;
        var outerLoop = _loop;
        _scope = new Scope(outer);
        _loop = new Loop(NewTarget(), NewTarget());
        int element = Declare(each.Name, each.IsConstant, each.Position, each.IsVar);
        _builder.Mark(_loop.Next);
        _builder.EmitNext(iteration, element, _loop.End);
        Emit(each.Body);
        _builder.Emit(Opcode.Jump, _loop.Next);
        _builder.Mark(_loop.End);
        _loop = outerLoop;
        _scope = outer;
    }

    private void EmitReturn(ReturnStatement result)
    {
        if (result.Value is null)
        {
            _builder.Emit(Opcode.PushUndefined);
        }
        else
        {
            Emit(result.Value);
        }

        if (_returnTarget is null)
        {
            _builder.Emit(Opcode.Return);
        }
        else
        {
            _builder.Emit(Opcode.Jump, _returnTarget);
        }
    }

    /// <summary>Takes the array on the stack into a local of its own, with the position behind it.</summary>
    private int BeginIteration(int position)
    {
        int iteration = NewLocal(position);
        NewLocal(position);
        _builder.Emit(Opcode.BeginIteration, iteration);
        return iteration;
    }

    /// <summary>Where a loop goes on, and where it ends.</summary>
    private sealed record Loop(JumpTarget Next, JumpTarget End);
}
