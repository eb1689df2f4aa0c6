using Rookery.Scripting.Compiling;
using Rookery.Scripting.Running;

namespace Rookery.Scripting.Functions;

/// <summary>Functions of patches for other documents and for counters.</summary>
internal static class StoreFunctions
{
    private const int StepsPerWrite = 100;

    /// <summary>Calls a function that stores or deletes a document, or changes or reads a counter.</summary>
    public static ScriptValue InvokeOnStore(
        this ScriptContext context,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        var heap = context.Heap;
        heap.Budget.Spend(StepsPerWrite);
        var store = context.Store ?? throw ScriptProgram.Broken();
        string name = FunctionNames.Of(function);
        if (function > ScriptFunction.DeleteDocument)
        {
            return InvokeOnCounter(context, store, function, arguments);
        }

        var id = arguments[0].IsText
            ? heap.Plain(arguments[0])
            : throw new ScriptFailure($"the script calls {name} with an id that is no text");
        bool isPut = function == ScriptFunction.Put;
        var vector = arguments.Length > (isPut ? 2 : 1) ? arguments[^1] : ScriptValue.Null;
        if (!vector.IsNothing && !vector.IsText)
        {
            throw new ScriptFailure($"the script calls {name} with a change vector that is no text");
        }

        bool hasVector = vector.IsText;
        vector = hasVector ? heap.Plain(vector) : heap.NewText(default);
        context.Documents.ForgetLoads();
        if (!isPut)
        {
            return ScriptValue.Of(store.Delete(heap.Span(id), heap.Span(vector), hasVector));
        }

        int start = heap.Length;
        AddDocument(context, arguments[1]);
        heap.Budget.SpendOnBytes(heap.Length - start);
        var stored = store.Put(heap.Span(id), heap.Span(start, heap.Length - start), heap.Span(vector), hasVector);
        // The store has copied the document.
        heap.Truncate(start);
        return heap.NewText(stored);
    }

    private static ScriptValue InvokeOnCounter(
        ScriptContext context,
        IScriptStore store,
        ScriptFunction function,
        ReadOnlySpan<ScriptValue> arguments
    )
    {
        const double MaxDelta = 9_007_199_254_740_991;
        var heap = context.Heap;
        var id = arguments[0].IsText ? arguments[0] : context.Documents.IdOf(arguments[0]);
        if (!id.IsText || !arguments[1].IsText)
        {
            throw new ScriptFailure(
                $"the script calls {FunctionNames.Of(function)} without a stored document or its id, or without a name"
            );
        }

        (id, var counter) = (heap.Plain(id), heap.Plain(arguments[1]));
        if (function == ScriptFunction.ReadCounter)
        {
            return store.ReadCounter(heap.Span(id), heap.Span(counter)) is { } value
                ? heap.NewWholeNumber(value)
                : ScriptValue.Null;
        }

        double delta = arguments.Length > 2 ? heap.ToNumber(arguments[2]) : 1;
        if (delta != Math.Truncate(delta) || !(Math.Abs(delta) <= MaxDelta))
        {
            throw new ScriptFailure("the script increments a counter by a number that is not whole, or not below 2^53");
        }

        bool isDelete = function == ScriptFunction.DeleteCounter;
        store.ChangeCounter(heap.Span(id), heap.Span(counter), isDelete ? null : (long)delta);
        return ScriptValue.Undefined;
    }

    /// <summary>
    /// Appends the JSON of a document to the heap, with the metadata of one that was passed or loaded.
    /// </summary>
    private static void AddDocument(ScriptContext context, ScriptValue document)
    {
        var heap = context.Heap;
        if (document.Kind != ValueKind.Object)
        {
            throw new ScriptFailure("the script calls put with a document that is no object");
        }

        if (heap.Containers.DocumentOf(document) < 0)
        {
            heap.Add(context.Stored.Write(document));
            return;
        }

        heap.Add("{\"@metadata\":"u8);
        heap.Add(context.Stored.Write(context.Documents.MetadataOf(document)));
        var body = context.Stored.Write(document);
        heap.Add(body.Length > 2 ? ","u8 : default);
        heap.Add(body[1..]);
    }
}
