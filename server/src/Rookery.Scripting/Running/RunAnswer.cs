namespace Rookery.Scripting.Running;

/// <summary>What a run reads for, and adds to, the answer of a query: counters and includes.</summary>
/// <param name="heap">The values of the run.</param>
/// <param name="documents">The documents of the run.</param>
/// <param name="limits">Bounds the number of look-ups.</param>
internal sealed class RunAnswer(ScriptHeap heap, RunDocuments documents, ScriptLimits limits)
{
    // The steps of a look-up in the store, as for a load.
    private const int StepsPerLookup = 100;

    private int _lookups;

    /// <summary>The answer; null if the script runs for no query. Then there are no counters.</summary>
    public IQueryAnswer? Target { get; set; }

    /// <summary>Begins a run.</summary>
    public void Clear() => _lookups = 0;

    /// <summary>Returns the value of a counter; null if it does not exist.</summary>
    /// <param name="of">The document, or its id.</param>
    /// <param name="name">The name of the counter.</param>
    /// <exception cref="ScriptFailure">An argument is neither a document nor a text.</exception>
    public ScriptValue ReadCounter(ScriptValue of, ScriptValue name)
    {
        return Find(of, name) is { } value ? heap.NewWholeNumber(value) : ScriptValue.Null;
    }

    /// <summary>
    /// Returns the values that the members of the cluster have for a counter, as an object; null if it does not exist.
    /// All members have the same value, so the object has one member.
    /// </summary>
    /// <inheritdoc cref="ReadCounter"/>
    public ScriptValue ReadCounterValues(ScriptValue of, ScriptValue name)
    {
        if (Find(of, name) is not { } value)
        {
            return ScriptValue.Null;
        }

        int start = heap.Length;
        heap.Add("{\"Total\":"u8);
        heap.NewWholeNumber(value);
        heap.Add((byte)'}');
        return heap.Containers.FromJson(start, heap.Length);
    }

    /// <summary>Adds documents to the answer.</summary>
    /// <param name="ids">An id, or an array of ids; null and other values add nothing.</param>
    public ScriptValue IncludeDocuments(ScriptValue ids) => Include(ids, areDocuments: true);

    /// <summary>Adds compare-exchange values to the answer.</summary>
    /// <param name="keys">A key, or an array of keys; null and other values add nothing.</param>
    public ScriptValue IncludeCompareExchange(ScriptValue keys) => Include(keys, areDocuments: false);

    private ScriptValue Include(ScriptValue names, bool areDocuments)
    {
        int count = names.Kind == ValueKind.Array ? heap.Containers.Count(names) : 1;
        for (int i = 0; i < count; i++)
        {
            heap.Budget.Spend(1);
            var name = names.Kind == ValueKind.Array ? heap.Containers.Element(names, i) : names;
            if (!name.IsText)
            {
                continue;
            }

            CountLookup();
            var text = heap.Span(heap.Plain(name));
            if (areDocuments)
            {
                Target?.IncludeDocument(text);
            }
            else
            {
                Target?.IncludeCompareExchange(text);
            }
        }

        return ScriptValue.Undefined;
    }

    private long? Find(ScriptValue of, ScriptValue name)
    {
        var id = of.IsText ? of : documents.IdOf(of);
        if (of.IsNothing)
        {
            return null; // for example a document that does not exist
        }

        if (id.IsNothing || !name.IsText)
        {
            throw new ScriptFailure(
                "the script reads a counter with "
                    + (id.IsNothing ? "a value that is no document and no id" : "a name that is no text")
            );
        }

        CountLookup();
        id = heap.Plain(id);
        name = heap.Plain(name);
        return Target?.ReadCounter(heap.Span(id), heap.Span(name));
    }

    private void CountLookup()
    {
        if (_lookups == limits.Loads)
        {
            throw new ScriptFailure($"the script reads or includes more than {limits.Loads} counters and values");
        }

        _lookups++;
        heap.Budget.Spend(StepsPerLookup);
    }
}
