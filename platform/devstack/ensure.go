package devstack

import (
	"context"
	"path/filepath"
	"strings"
)

// inspectFunc says what is there and what is missing; it changes nothing.
type inspectFunc func(context.Context, Options) (Found, error)

// ensure inspects, installs and builds until nothing is missing. The cache's lock makes several
// processes that start at once (test binaries do) install once.
func ensure(ctx context.Context, o Options, steps *progress, inspect inspectFunc) (Found, error) {
	found, err := inspect(ctx, o)
	if err != nil || found.Plan.Empty() {
		return found, err
	}
	err = makeDir(o.CacheDir, 0o711)
	if err != nil {
		return Found{}, err
	}
	lock, err := LockExclusive(ctx, filepath.Join(o.CacheDir, "install.lock"))
	if err != nil {
		return Found{}, err
	}
	defer lock.Unlock()
	found, err = inspect(ctx, o)
	if err != nil || found.Plan.Empty() {
		return found, err
	}
	err = allowed(o, found.Plan)
	if err != nil {
		return Found{}, err
	}
	return install(ctx, o, found, steps, inspect)
}

// allowed refuses plans that we cannot or may not carry out.
func allowed(o Options, plan InstallPlan) error {
	if len(plan.Packages) > 0 && !plan.Automatic {
		return &MissingError{Plan: plan}
	}
	if len(plan.Packages) == 0 && !plan.BuildVector {
		return &MissingError{Plan: plan, Cause: "no package manager that we know"}
	}
	if o.Confirm == nil {
		return nil
	}
	yes, err := o.Confirm(plan)
	if err != nil {
		return err
	}
	if !yes {
		return &MissingError{Plan: plan, Cause: "you chose not to install it"}
	}
	return nil
}

// install carries out the plan. The plan is made again after the packages: only then is it known
// which Postgres there is and whether a package has its pgvector.
func install(ctx context.Context, o Options, found Found, steps *progress, inspect inspectFunc) (Found, error) {
	o.Log("missing: %s", strings.Join(found.Plan.Missing, ", "))
	if len(found.Plan.Packages) > 0 {
		steps.total++
	}
	if found.Plan.BuildVector {
		steps.total++
	}
	for range 2 {
		if len(found.Plan.Packages) == 0 {
			break
		}
		steps.step("installing packages: %s", strings.Join(found.Plan.Packages, " "))
		err := aptInstall(ctx, found.Plan.Packages, o.Log)
		if ctx.Err() != nil {
			return Found{}, ctx.Err()
		}
		if err != nil {
			return Found{}, &MissingError{Plan: found.Plan, Cause: err.Error()}
		}
		found, err = inspect(ctx, o)
		if err != nil {
			return Found{}, err
		}
	}
	if found.Plan.BuildVector {
		steps.step("building pgvector from its source package (about 10 s, once)")
		pg, err := buildVector(ctx, o.CacheDir, found.Postgres, o.Log)
		if ctx.Err() != nil {
			return Found{}, ctx.Err()
		}
		if err != nil {
			return Found{}, &MissingError{Plan: found.Plan, Cause: err.Error()}
		}
		found.Postgres = pg
		found.Plan = makePlan(ctx, o, found)
	}
	if !found.Plan.Empty() {
		return Found{}, &MissingError{Plan: found.Plan, Cause: "still missing after installing"}
	}
	return found, nil
}
