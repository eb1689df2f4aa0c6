using Rookery.Server;

namespace Rookery;

/// <summary>Gives memory back once after work has ended: between 10 and 20 seconds after the last request and the last step of background work. An idle process is not disturbed again.</summary>
internal sealed class IdleMemory : IDisposable
{
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(10);
    private readonly ServerContext context;
    private readonly Action giveBack;
    private readonly ITimer timer;
    private long workSeen = -1;
    private bool givenBack;

    public IdleMemory(ServerContext context, TimeProvider time, Action giveBack)
    {
        this.context = context;
        this.giveBack = giveBack;
        timer = time.CreateTimer(static idle => ((IdleMemory)idle!).Look(), this, Period, Period);
    }

    public void Dispose() => timer.Dispose();

    private void Look()
    {
        long work = context.Metrics.DocumentRequests + context.Node.BackgroundSteps;
        if (work != workSeen)
        {
            workSeen = work;
            givenBack = false;
        }
        else if (!givenBack)
        {
            givenBack = true;
            giveBack();
        }
    }
}
