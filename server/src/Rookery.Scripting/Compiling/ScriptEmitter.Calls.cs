using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <content>Calls. Methods that take a function become loops in place, so that no call of the machine leads back into
/// it.</content>
internal sealed partial class ScriptEmitter
{
    private void EmitCall(CallExpression call)
    {
        switch (call.Callee)
        {
            case NameExpression name when !_scope.TryFind(name.Name, out _):
                EmitNamed(name.Name, name.Position, call.Arguments);
                break;
            case NameExpression name:
                throw TokenCursor.NotSupported($"the variable '{name.Name}' as a function", name.Position);
            case MemberExpression { Target: NameExpression carrier } member
                when FunctionCatalogue.IsCarrier(carrier.Name) && !_scope.TryFind(carrier.Name, out _):
                EmitNamed($"{carrier.Name}.{member.Name}", carrier.Position, call.Arguments);
                break;
            case MemberExpression member:
                EmitMethod(member, call.Arguments);
                break;
            default:
                throw TokenCursor.NotSupported("calls of what is no name", call.Position);
        }
    }

    private void EmitNamed(string name, int position, IReadOnlyList<Expression> arguments)
    {
        if (_functions.TryGetValue(name, out var declared))
        {
            EmitArguments(arguments);
            int parameters = declared.Function.Parameters.Count;
            for (int missing = arguments.Count; missing < parameters; missing++)
            {
                _builder.Emit(Opcode.PushUndefined);
            }

            for (int surplus = parameters; surplus < arguments.Count; surplus++)
            {
                _builder.Emit(Opcode.Pop);
            }

            if (_hasArguments)
            {
                EmitArguments();
                parameters++;
            }

            _builder.Emit(Opcode.Call, declared.Number, parameters);
        }
        else if (FunctionCatalogue.TryFindFunction(name, out var entry))
        {
            RequireCount(name, entry, arguments, position);
            EmitInvoke(entry.Function, arguments, position);
        }
        else
        {
            throw TokenCursor.NotSupported($"the function '{name}'", position);
        }
    }

    private static void RequireCount(
        string name,
        FunctionCatalogue.Entry entry,
        IReadOnlyList<Expression> arguments,
        int position
    )
    {
        if (arguments.Count < entry.Least || arguments.Count > entry.Most)
        {
            throw TokenCursor.NotSupported(
                $"'{name}' with {(arguments.Count == 1 ? "one argument" : $"{arguments.Count} arguments")}",
                position
            );
        }
    }

    private void EmitInvoke(ScriptFunction function, IReadOnlyList<Expression> arguments, int position)
    {
        if (function == ScriptFunction.Load)
        {
            if (_use == ScriptUse.Patch)
            {
                throw TokenCursor.NotSupported("'load' in a patch", position);
            }

            if (_use == ScriptUse.Indexing && arguments.Count != 2)
            {
                throw TokenCursor.NotSupported("'load' without the name of a collection", position);
            }

            if (arguments.Count == 2)
            {
                _loadedCollections.Add(
                    arguments[1] is TextLiteral collection
                        ? collection.Text
                        : throw TokenCursor.NotSupported("a collection that is no text", arguments[1].Position)
                );
            }

            Emit(arguments[0]);
            _builder.Emit(Opcode.Invoke, (int)function, 1);
            return;
        }

        EmitArguments(arguments);
        _builder.Emit(Opcode.Invoke, (int)function, arguments.Count);
    }

    private void EmitArguments(IReadOnlyList<Expression> arguments)
    {
        foreach (var argument in arguments)
        {
            Emit(argument);
        }
    }

    private void EmitMethod(MemberExpression method, IReadOnlyList<Expression> arguments)
    {
        switch (method.Name)
        {
            case "map" or "filter" or "some" or "every" or "find" or "findIndex" or "forEach" or "flatMap":
                RequireOne(method, arguments);
                EmitLoop(method, ToCallback(arguments[0], 1));
                break;
            case "reduce" when arguments.Count is 1 or 2:
                EmitReduce(method, ToCallback(arguments[0], 2), arguments.Count == 2 ? arguments[1] : null);
                break;
            case "sort" when arguments.Count > 0:
                throw TokenCursor.NotSupported("'sort' with a function", method.Position);
            default:
                if (!FunctionCatalogue.TryFindMethod(method.Name, out var entry))
                {
                    throw TokenCursor.NotSupported($"the method '{method.Name}'", method.Position);
                }

                RequireCount(method.Name, entry, arguments, method.Position);
                if (
                    entry.Function
                    is ScriptFunction.Push
                        or ScriptFunction.Pop
                        or ScriptFunction.Shift
                        or ScriptFunction.Unshift
                        or ScriptFunction.Splice
                        or ScriptFunction.Reverse
                        or ScriptFunction.Sort
                )
                {
                    RefuseMetadata(method.Target);
                }

                Emit(method.Target);
                EmitArguments(arguments);
                _builder.Emit(Opcode.Invoke, (int)entry.Function, arguments.Count + 1);
                break;
        }
    }

    private static void RequireOne(MemberExpression method, IReadOnlyList<Expression> arguments)
    {
        if (arguments.Count != 1)
        {
            throw TokenCursor.NotSupported($"'{method.Name}' with {arguments.Count} arguments", method.Position);
        }
    }

    /// <summary>The function that an argument is: written there, or named.</summary>
    private static LambdaExpression ToCallback(Expression argument, int parameters)
    {
        if (argument is NameExpression name)
        {
            string[] names = [.. Enumerable.Range(0, parameters).Select(static number => $"\0{number}")];
            return new LambdaExpression(
                names,
                new CallExpression(
                    name,
                    [.. names.Select(parameter => new NameExpression(parameter, name.Position))],
                    name.Position
                ),
                null,
                name.Position
            );
        }

        return argument as LambdaExpression
            ?? throw TokenCursor.NotSupported("an argument here that is no function", argument.Position);
    }

    /// <summary>
    /// A loop over the receiver; what a method does with the value of its function is all in which they differ.
    /// </summary>
    private void EmitLoop(MemberExpression method, LambdaExpression callback)
    {
        Emit(method.Target);
        _builder.Emit(Opcode.ToArray);
        int iteration = BeginIteration(method.Position);
        bool collects = method.Name is "map" or "filter" or "flatMap";
        if (collects)
        {
            _builder.Emit(Opcode.NewArray);
        }

        JumpTarget next = NewTarget(),
            exhausted = NewTarget(),
            end = NewTarget();
        _builder.Mark(next);
        int element = NewLocal(callback.Position);
        _builder.EmitNext(iteration, element, exhausted);
        EmitCallback(callback, [element], iteration);
        switch (method.Name)
        {
            case "map":
                _builder.Emit(Opcode.Append);
                break;
            case "flatMap":
                _builder.Emit(Opcode.AppendFlat);
                break;
            case "forEach":
                _builder.Emit(Opcode.Pop);
                break;
            case "every":
                _builder.Emit(Opcode.Not);
                EmitExit(Opcode.PushFalse, next, end);
                break;
            case "some":
                EmitExit(Opcode.PushTrue, next, end);
                break;
            default:
                _builder.Emit(Opcode.JumpIfFalse, next);
                EmitElement(method.Name, iteration, element);
                if (!collects)
                {
                    _builder.Emit(Opcode.Jump, end);
                }

                break;
        }

        _builder.Emit(Opcode.Jump, next);
        _builder.Mark(exhausted);
        switch (method.Name)
        {
            case "some":
                _builder.Emit(Opcode.PushFalse);
                break;
            case "every":
                _builder.Emit(Opcode.PushTrue);
                break;
            case "findIndex":
                _builder.EmitNumber(-1);
                break;
            case "find" or "forEach":
                _builder.Emit(Opcode.PushUndefined);
                break;
        }

        _builder.Mark(end);
    }

    private void EmitExit(Opcode result, JumpTarget next, JumpTarget end)
    {
        _builder.Emit(Opcode.JumpIfFalse, next);
        _builder.Emit(result);
        _builder.Emit(Opcode.Jump, end);
    }

    /// <summary>What is done with an element of which the function was true.</summary>
    private void EmitElement(string method, int iteration, int element)
    {
        if (method is "findIndex")
        {
            EmitIndex(iteration);
            return;
        }

        _builder.Emit(Opcode.LoadLocal, element);
        if (method is "filter")
        {
            _builder.Emit(Opcode.Append);
        }
    }

    private void EmitReduce(MemberExpression method, LambdaExpression callback, Expression? first)
    {
        JumpTarget next = NewTarget(),
            end = NewTarget();
        Emit(method.Target);
        _builder.Emit(Opcode.ToArray);
        int iteration = BeginIteration(method.Position);
        int result = NewLocal(method.Position),
            element = NewLocal(method.Position);
        if (first is not null)
        {
            Emit(first);
            _builder.Emit(Opcode.StoreLocal, result);
        }
        else
        {
            _builder.Emit(Opcode.PushNull);
            _builder.Emit(Opcode.StoreLocal, result);
            _builder.EmitNext(iteration, result, end);
        }

        _builder.Mark(next);
        _builder.EmitNext(iteration, element, end);
        EmitCallback(callback, [result, element], iteration);
        _builder.Emit(Opcode.StoreLocal, result);
        _builder.Emit(Opcode.Jump, next);
        _builder.Mark(end);
        _builder.Emit(Opcode.LoadLocal, result);
    }

    /// <summary>The function's value of parameters that stand in locals, and of the index behind them.</summary>
    private void EmitCallback(LambdaExpression callback, ReadOnlySpan<int> parameters, int iteration)
    {
        if (callback.Parameters.Count > parameters.Length + 1)
        {
            throw TokenCursor.NotSupported(
                $"a function of {callback.Parameters.Count} parameters here",
                callback.Position
            );
        }

        var (outer, outerLoop, outerReturn) = (_scope, _loop, _returnTarget);
        _scope = new Scope(outer);
        _loop = null;
        for (int index = 0; index < callback.Parameters.Count; index++)
        {
            int local = Declare(callback.Parameters[index], isConstant: false, callback.Position);
            if (index < parameters.Length)
            {
                _builder.Emit(Opcode.LoadLocal, parameters[index]);
            }
            else
            {
                EmitIndex(iteration);
            }

            _builder.Emit(Opcode.StoreLocal, local);
        }

        if (callback.Value is not null)
        {
            Emit(callback.Value);
        }
        else
        {
            _returnTarget = NewTarget();
            EmitBlock(callback.Body!);
            _builder.Emit(Opcode.PushUndefined);
            _builder.Mark(_returnTarget);
        }

        (_scope, _loop, _returnTarget) = (outer, outerLoop, outerReturn);
    }

    /// <summary>The index of the element that an iteration came to.</summary>
    private void EmitIndex(int iteration)
    {
        _builder.Emit(Opcode.LoadLocal, iteration + 1);
        _builder.EmitNumber(1);
        _builder.Emit(Opcode.Subtract);
    }
}
